/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes of a run are the ranks of a parallel job, and which belong to a rank. */
#ifndef TPROF_MODEL_RESULT_RANK_OF_H
#define TPROF_MODEL_RESULT_RANK_OF_H

#include "model/result/result.h"

struct tpa_rank_of {
	uint32_t number; /* of the rank that the process is, or to which it belongs; TPA_COMM_UNKNOWN: to none */
	bool is_rank;	 /* false: a child of a rank, or what started it */
};

/*
 * By process of the run; the caller frees it. A process that has joined its job's world is a rank. If none of those with a rank
 * of a launcher has, the one with the largest peak is the rank, forks and programs that exec replaced apart: shells that start
 * ranks have the launcher's variables, and so have a rank's children. A child without them belongs to the rank of its parent.
 * If the run has fewer than two ranks, no process belongs to one.
 */
struct tpa_rank_of *tpa_rank_of_each(const struct tpa_run *run);

#endif
