/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ops to optimise first: those that together make up most of the self time of all ops. The possible gain of each is bounded
 * by assuming that it took no time at all (Amdahl 1967).
 */
#ifndef TPROF_MODEL_RESULT_PRIORITIES_H
#define TPROF_MODEL_RESULT_PRIORITIES_H

#include "model/result/result.h"

#define TPA_PRIORITY_SHARE 0.8 /* the share that reports use */

struct tpa_priority {
	const struct tpa_op_stats *op;
	uint64_t own_ns;       /* self_ns; for a parallel region also the part of the thread that opened it */
	double of_ops, of_run; /* own_ns as a share of all ops' own_ns, and of the process's duration (at most 1) */
	uint64_t saved_ns;     /* upper bound of the time saved; less if threads run in parallel */
	double speedup;	       /* upper bound of the process's speedup; INFINITY: the op takes all of its time */
};

/*
 * Fills `list`, which has room for process->op_count elements, with the fewest ops whose own times reach `share` (0 to 1) of the
 * sum, largest first. Returns their number; 0: no op took any time.
 */
size_t tpa_priorities(const struct tpa_process *process, double share, struct tpa_priority *list);

#endif
