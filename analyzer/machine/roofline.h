/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline (Williams, Waterman, Patterson, CACM 2009): an op of so many FLOP on so many bytes can't take less time
 * than the machine needs to compute the ones or to move the others, and the larger of the two says what bounds it. Which
 * memory the bytes come from follows from how many a call touches: the smallest level that holds them, as if they were
 * there already (the cache-aware roofline of Ilic, Pratas, Sousa, IEEE CAL 2014). So the time is a lower bound.
 */
#ifndef TPROF_MACHINE_ROOFLINE_H
#define TPROF_MACHINE_ROOFLINE_H

#include "machine/machine.h"
#include "model/result/result.h"

enum tp_bound { TP_BOUND_UNKNOWN, TP_BOUND_COMPUTE, TP_BOUND_MEMORY };
extern const char *const tp_bound_names[]; /* "", "compute", "memory" */

struct tp_roof_place {
	const struct tp_op_stats *op;
	enum tp_bound bound; /* unknown: it has neither FLOP nor bytes, or took no time; then the rest is 0 */
	enum tp_level level;
	enum tp_precision precision; /* of most of its FLOP; TP_UNSAID counts as single */
	bool mixed;		     /* ... but not of all: each part has its own peak */
	double intensity;	     /* FLOP a byte; 0: one of the two is not known */
	double gflops, gbytes;	     /* attained, by the op's own time: 10^9 a second */
	double roof;		     /* what could be attained: GFLOP/s, of a memory-bound op without FLOP GB/s */
	double ideal_ns, time_ns;    /* of all calls: by the roof, and as measured: without ops within, if these did
				   * part of the work */
	double fraction;	     /* of the roof that was attained: ideal_ns / time_ns */
};

/* Less of its roof, and what bounds an op is not what its time goes to. */
#define TP_ROOF_LEAST 0.1
static inline bool tp_roof_explains(const struct tp_roof_place *place)
{
	return place->fraction >= TP_ROOF_LEAST;
}

/*
 * Do the calls of an op take so different times that most of its time is not the work's: one in ten takes at least ten times
 * as long as half of them do? False of an op with few calls, or of calls with work of several shapes.
 */
bool tp_roof_is_uneven(const struct tp_op_stats *op);

/* Cores that a process could use: as many as it had threads, but no more than there are. */
uint32_t tp_roof_cores(const struct tp_machine *machine, const struct tp_process *process);

struct tp_roof_place tp_roof_place(const struct tp_machine *machine, uint32_t cores, const struct tp_op_stats *op);

/*
 * What the steps (but the first) did, of what their cores could: the FLOP of their matrix products, convolutions and their
 * like by the steps' time. What is done element by element is not the model's FLOP (tp_work_is_matrix()).
 */
struct tp_utilisation {
	bool known;				   /* false: there are no steps, or no such FLOP in them */
	enum tp_precision precision;		   /* of most of the FLOP */
	bool mixed;				   /* ... but not of all: `peak` is that of all together */
	double flop_per_step, gflops, peak, share; /* share: gflops / peak */
};
struct tp_utilisation tp_roof_utilisation(const struct tp_machine *machine, const struct tp_process *process);

/*
 * What an op's own FLOP were done in, as its typed kernels said; an annotation does not say. The precision of most of them,
 * whether there were others, and how long the machine needs for all of them.
 */
uint64_t tp_op_flop_in(const struct tp_op_stats *op, enum tp_precision precision);
enum tp_precision tp_op_precision(const struct tp_op_stats *op);
bool tp_op_mixed(const struct tp_op_stats *op);
double tp_roof_compute_ns(const struct tp_machine *machine, uint32_t cores, const struct tp_op_stats *op);

/* Where the bytes of one call fit, and what can be read from there by so many cores, in GB/s. */
enum tp_level tp_roof_level(const struct tp_machine *machine, uint32_t cores, double bytes);
double tp_roof_bandwidth(const struct tp_machine *machine, uint32_t cores, enum tp_level level);
double tp_roof_peak(const struct tp_machine *machine, uint32_t cores, enum tp_precision precision);

/* All ops of a process that have a place, most time first. NULL: no memory. The caller frees. */
struct tp_roof_place *tp_roof_places(const struct tp_machine *machine, const struct tp_process *process, size_t *count);

const char *tp_roof_precision(enum tp_precision precision, bool mixed);

/* Why there is no roof to tell of; NULL: there is one. */
const char *tp_roof_missing(const struct tp_roof_place *place);

/* What a word on an op is made from; the text is valid until the next one is made. */
struct tp_roof_notes {
	const struct tp_machine *machine;
	uint32_t cores;
	char text[240];
};

#endif
