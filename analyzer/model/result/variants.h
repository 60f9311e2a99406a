/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are held side by side, each with all of its processes. Those that begin with the same program and arguments are
 * repeated runs of one variant, and are pooled: what differs from run to run is what its intervals are made of.
 */
#ifndef TPROF_MODEL_RESULT_VARIANTS_H
#define TPROF_MODEL_RESULT_VARIANTS_H

#include "model/result/result.h"

/* An op of a variant, all runs together. */
struct tpa_variant_op {
	struct tpa_op_stats sum; /* name, category, calls, times, work; the rest is 0. `op` is no number here */
	double share;		 /* of the self times of all ops; 0 to 1 */
	uint64_t
		peak_bytes; /* at the peak of the first run's process with the steps: what was allocated in it, innermost */
};

struct tpa_variant {
	const struct tpa_run **runs; /* none is empty */
	size_t run_count;
	struct tpa_variant_op *ops; /* by self time; category NULL: what no op held, at the peak */
	size_t op_count;
	double step_ns; /* mean, without the first step; 0: there are no steps */
	/*
	 * Of the mean at 95%. Of several runs: by their means (Student's t), as what one run's steps have in common differs
	 * from the next. Of one: by its steps. NAN where there are less than two.
	 */
	struct tpa_interval step_interval;
	double items_per_step, flop_per_step; /* 0: not said */
	double matrix_flop_per_step;	      /* of these FLOP: matrix products and their like */
	uint64_t peak_bytes, rss_peak;	      /* the largest of the runs; RSS: of one process */
	uint64_t parameters;		      /* tprof_value("parameters"); 0: not said */
};

struct tpa_variants {
	struct tpa_variant *list; /* in the order of their first runs */
	size_t count;
};

/* The runs stay the caller's. */
void tpa_variants_make(struct tpa_variants *variants, const struct tpa_run *const *runs, size_t count);
void tpa_variants_free(struct tpa_variants *variants);

/* The op of that name and category; NULL: the variant has none. */
const struct tpa_variant_op *tpa_variant_op(const struct tpa_variant *variant, const char *name, const char *category);

#endif
