/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison of runs, each with all of its processes. Runs whose first processes have the same program and arguments are
 * repetitions of one variant and are pooled. The variation between them gives the variant's confidence intervals.
 */
#ifndef TPROF_MODEL_RESULT_VARIANTS_H
#define TPROF_MODEL_RESULT_VARIANTS_H

#include "model/result/result.h"

/* An op of a variant, summed over all runs. */
struct tpa_variant_op {
	struct tpa_op_stats sum; /* name, category, calls, times, work; the rest, `op` too, is 0 */
	double share;		 /* self time as a share of all ops' self times; 0 to 1 */
	/* Live at the peak of the process that stands for the first run (tpa_stepping()), allocated with this op innermost */
	uint64_t peak_bytes;
};

struct tpa_variant {
	const struct tpa_run **runs; /* each has at least one process */
	size_t run_count;
	struct tpa_variant_op *ops; /* largest self time first; category NULL: memory outside of ops */
	size_t op_count;
	double step_ns; /* mean over the runs, without the first step of each; 0: no steps */
	/*
	 * 95% interval of step_ns. With several runs it follows from their means (Student's t), because the steps of one run have
	 * in common what differs from run to run. With one run it follows from its steps. NAN: fewer than two values.
	 */
	struct tpa_interval step_interval;
	double items_per_step, flop_per_step; /* 0: not known */
	double matrix_flop_per_step;	      /* part of flop_per_step: matrix products and the like */
	uint64_t peak_bytes, rss_peak;	      /* largest of all runs; rss_peak: of a single process */
	uint64_t parameters;		      /* tprof_value("parameters"); 0: not given */
};

struct tpa_variants {
	struct tpa_variant *list; /* ordered by their first runs */
	size_t count;
};

/*
 * Groups `count` runs into variants; free them with tpa_variants_free(). `variants` points into the runs, which stay the caller's
 * and must outlive it.
 */
void tpa_variants_make(struct tpa_variants *variants, const struct tpa_run *const *runs, size_t count);
void tpa_variants_free(struct tpa_variants *variants);

/* The variant's op with that name and category (may be NULL); NULL: none. */
const struct tpa_variant_op *tpa_variant_op(const struct tpa_variant *variant, const char *name, const char *category);

#endif
