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

enum tpa_bound { TPA_BOUND_UNKNOWN, TPA_BOUND_COMPUTE, TPA_BOUND_MEMORY };
extern const char *const tpa_bound_names[]; /* "", "compute", "memory" */

struct tpa_roof_place {
	const struct tpa_op_stats *op;
	/* Unknown: it has neither FLOP nor bytes, or took no time; the rest is then 0 */
	enum tpa_bound bound;
	enum tpa_level level;
	enum tpa_precision precision; /* of most of its FLOP; TPA_UNSAID counts as single */
	bool mixed;		      /* other FLOP have another precision: each part has its own peak */
	double intensity;	      /* FLOP per byte; 0: one of the two is unknown */
	double gflops, gbytes;	      /* attained in the op's self time, in 10^9 per second */
	double roof;		      /* what could be attained: GFLOP/s, or GB/s for a memory-bound op without FLOP */
	/* Of all calls: at the roof, and as measured (without the ops inside, if these did part of the work) */
	double ideal_ns, time_ns;
	double fraction; /* attained share of the roof: ideal_ns / time_ns */
};

/* An op below this share of its roof is not explained by its bound. */
#define TPA_ROOF_LEAST 0.1
static inline bool tpa_roof_explains(const struct tpa_roof_place *place)
{
	return place->fraction >= TPA_ROOF_LEAST;
}

/*
 * Are the times of an op's calls so different that most of the time is not spent on its work: does one call in ten take
 * at least ten times as long as the median? False for an op with few calls, or with work of several shapes.
 */
bool tpa_roof_is_uneven(const struct tpa_op_stats *op);

/* The cores that a process could use: the number of its threads, but no more than the machine has. */
uint32_t tpa_roof_cores(const struct tpa_machine *machine, const struct tpa_process *process);

struct tpa_roof_place tpa_roof_place(const struct tpa_machine *machine, uint32_t cores, const struct tpa_op_stats *op);

/*
 * The share of the cores' peak that the steps (without the first) achieved: FLOP of matrix products, convolutions
 * etc., divided by the steps' time. Excludes element-wise work (tpa_work_is_matrix()).
 */
struct tpa_utilisation {
	bool known;				   /* false: no steps, or no such FLOP in them */
	enum tpa_precision precision;		   /* of most of the FLOP */
	bool mixed;				   /* other FLOP have another precision: `peak` combines them */
	double flop_per_step, gflops, peak, share; /* share: gflops / peak */
};
struct tpa_utilisation tpa_roof_utilisation(const struct tpa_machine *machine, const struct tpa_process *process);

/*
 * The precision of an op's own FLOP, from its typed kernels (an annotation has none): the FLOP in one precision, the
 * precision of most FLOP, whether there are others, and the time that the machine needs for all of them.
 */
uint64_t tpa_op_flop_in(const struct tpa_op_stats *op, enum tpa_precision precision);
enum tpa_precision tpa_op_precision(const struct tpa_op_stats *op);
bool tpa_op_mixed(const struct tpa_op_stats *op);
double tpa_roof_compute_ns(const struct tpa_machine *machine, uint32_t cores, const struct tpa_op_stats *op);

/* The level that holds the bytes of one call, and the read bandwidth of `cores` cores from it, in GB/s. */
enum tpa_level tpa_roof_level(const struct tpa_machine *machine, uint32_t cores, double bytes);
double tpa_roof_bandwidth(const struct tpa_machine *machine, uint32_t cores, enum tpa_level level);
double tpa_roof_peak(const struct tpa_machine *machine, uint32_t cores, enum tpa_precision precision);

/* All ops of a process that have a place, the one with the most time first. The caller frees the array. */
struct tpa_roof_place *tpa_roof_places(const struct tpa_machine *machine, const struct tpa_process *process,
				       size_t *count);

const char *tpa_roof_precision(enum tpa_precision precision, bool mixed);

/* Why there is no roof, or NULL if there is one. */
const char *tpa_roof_missing(const struct tpa_roof_place *place);

/* Context of tpa_roof_note(); the text is valid until the next note. */
struct tpa_roof_notes {
	const struct tpa_machine *machine;
	uint32_t cores;
	char text[240];
};

#endif
