/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_CORE_JOB_H
#define TPROF_CORE_JOB_H

#include "core/text.h"

/*
 * Writes header.job of format.h: the host, the control group, and what launchers told the process by its environment, as it was
 * at the process's start; of a rank also what is known of the host's clock. A forked child has its parent's.
 */
void tpc_job_describe(struct tpc_text *to);

/* Has a launcher told the process its rank in a job? Shells between the two, and processes that a rank starts, were told it, too. */
bool tpc_job_has_rank(void);

#endif
