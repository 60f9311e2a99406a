/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a parallel job a process is. */
#ifndef TPROF_MODEL_RANKS_JOB_H
#define TPROF_MODEL_RANKS_JOB_H

#include "model/ranks/calls.h"
#include "trace/trace.h"

/*
 * Fills in the rank, the host, the job, the launcher and the control group; texts are the trace's. The world that the process has joined
 * tells its rank (joined: true). Otherwise the variables of its launcher do, which shells and children of a rank have as well.
 */
void tpa_job_read(const struct tpa_trace *trace, struct tpa_rank_process *to);

/*
 * The same from a file's header alone, as tpa_trace_peek() gave it: what the launcher says, and `joined` false. The texts lie in the
 * result, which the caller frees; NULL: nothing is known.
 */
char *tpa_job_peek(const char *file, const struct tprof_header *header, struct tpa_rank_process *to);

/* Is anything known of a job: has it joined one, or was it started by a launcher? */
static inline bool tpa_job_is_known(const struct tpa_rank_process *ranks)
{
	return ranks->joined || ranks->launcher;
}

#endif
