/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to look at first: the ops that together make up most of the time that ops take themselves, and what a perfect
 * version of each, one that takes no time, would give at most (Amdahl 1967).
 */
#ifndef TPROF_MODEL_RESULT_PRIORITIES_H
#define TPROF_MODEL_RESULT_PRIORITIES_H

#include "model/result/result.h"

#define TPA_PRIORITY_SHARE 0.8

struct tpa_priority {
	const struct tpa_op_stats *op;
	uint64_t own_ns;       /* its self_ns; of a parallel region, with the part of the thread that opened it */
	double of_ops, of_run; /* shares: of all ops' own time; of the run's duration, at most 1 */
	uint64_t saved_ns;     /* of the run's duration, at most: with threads at work beside each other it is less */
	double speedup;	       /* of the run, at most; INFINITY: nothing would be left */
};

/*
 * The fewest ops whose own times make up that share, most first, into a list of process->op_count. Returns how many; 0:
 * no op took any time.
 */
size_t tpa_priorities(const struct tpa_process *process, double share, struct tpa_priority *list);

#endif
