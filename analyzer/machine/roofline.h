/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline (Williams, Waterman, Patterson, CACM 2009). An op with a number of FLOP on a number of bytes takes at
 * least the time that the machine needs to compute the FLOP, or to move the bytes; the larger of the two bounds it. The
 * memory that the bytes come from follows from how many a call touches: the smallest level that holds them, as if they
 * were there already (the cache-aware roofline of Ilic, Pratas, Sousa, IEEE CAL 2014). So the time is a lower bound.
 */
#ifndef TPROF_MACHINE_ROOFLINE_H
#define TPROF_MACHINE_ROOFLINE_H

#include "machine/machine.h"
#include "model/result/result.h"

enum tp_bound { TP_BOUND_UNKNOWN, TP_BOUND_COMPUTE, TP_BOUND_MEMORY };
extern const char *const tp_bound_names[]; /* "", "compute", "memory" */

struct tp_roof_place {
	const struct tp_op_stats *op;
	/* Unknown: it has neither FLOP nor bytes, or took no time; the rest is then 0 */
	enum tp_bound bound;
	enum tp_level level;
	enum tp_precision precision; /* of most of its FLOP; TP_UNSAID counts as single */
	bool mixed;		     /* other FLOP have another precision: each part has its own peak */
	double intensity;	     /* FLOP per byte; 0: one of the two is unknown */
	double gflops, gbytes;	     /* attained in the op's self time, in 10^9 per second */
	double roof;		     /* what could be attained: GFLOP/s, or GB/s for a memory-bound op without FLOP */
	/* Of all calls: at the roof, and as measured (without the ops inside, if these did part of the work) */
	double ideal_ns, time_ns;
	double fraction; /* attained share of the roof: ideal_ns / time_ns */
};

/* If an op attains less of its roof, its bound does not explain its time. */
#define TP_ROOF_LEAST 0.1
static inline bool tp_roof_explains(const struct tp_roof_place *place)
{
	return place->fraction >= TP_ROOF_LEAST;
}

/*
 * Are the times of an op's calls so different that most of the time is not spent on its work: does one call in ten take
 * at least ten times as long as the median? False for an op with few calls, or with work of several shapes.
 */
bool tp_roof_is_uneven(const struct tp_op_stats *op);

/* The cores that a process could use: the number of its threads, but no more than the machine has. */
uint32_t tp_roof_cores(const struct tp_machine *machine, const struct tp_process *process);

struct tp_roof_place tp_roof_place(const struct tp_machine *machine, uint32_t cores, const struct tp_op_stats *op);

/*
 * The share of their cores' peak that the steps (without the first) achieved: the FLOP of matrix products, convolutions
 * and the like, divided by the steps' time. Element-wise work does not count (tp_work_is_matrix()).
 */
struct tp_utilisation {
	bool known;		     /* false: there are no steps, or no such FLOP in them */
	enum tp_precision precision; /* of most of the FLOP */
	bool mixed;		     /* other FLOP have another precision: `peak` is that of all together */
	double flop_per_step, gflops, peak, share; /* share: gflops / peak */
};
struct tp_utilisation tp_roof_utilisation(const struct tp_machine *machine, const struct tp_process *process);

/*
 * The precision of an op's own FLOP, from its typed kernels (an annotation has none): the FLOP in one precision, the
 * precision of most FLOP, whether there are others, and the time that the machine needs for all of them.
 */
uint64_t tp_op_flop_in(const struct tp_op_stats *op, enum tp_precision precision);
enum tp_precision tp_op_precision(const struct tp_op_stats *op);
bool tp_op_mixed(const struct tp_op_stats *op);
double tp_roof_compute_ns(const struct tp_machine *machine, uint32_t cores, const struct tp_op_stats *op);

/* The level where the bytes of one call fit, and the bandwidth of reading from it with `cores` cores, in GB/s. */
enum tp_level tp_roof_level(const struct tp_machine *machine, uint32_t cores, double bytes);
double tp_roof_bandwidth(const struct tp_machine *machine, uint32_t cores, enum tp_level level);
double tp_roof_peak(const struct tp_machine *machine, uint32_t cores, enum tp_precision precision);

/*
 * All ops of a process that have a place, the one with the most time first. NULL: no memory. The caller frees the
 * array.
 */
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
