/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis of a parallel job: whose time went where, and who made whom wait. */
#ifndef TPROF_MODEL_RANKS_ANALYZE_H
#define TPROF_MODEL_RANKS_ANALYZE_H

#include "model/ranks/ranks.h"

/* A process of the run. Those without calls are no ranks: launchers, shells, workers. */
struct tpa_rank_input {
	const struct tpa_rank_process *said; /* must outlive the result */
	size_t process;			     /* any number, which tpa_rank.process will be */
	uint64_t start;			     /* unix time in ns by its own clock */
	int64_t moved; /* added to all its times: by how much its clock is behind those of its host */
};

/* The name of an op of a process; NULL: it has none. Must outlive the result. */
typedef const char *tpa_rank_op_name(void *context, size_t process, uint32_t op);

/* NULL: no process has calls. The caller frees the result with tpa_ranks_free(). */
struct tpa_ranks *tpa_ranks_analyze(const struct tpa_rank_input *inputs, size_t count, tpa_rank_op_name *name,
				    void *context);

#endif
