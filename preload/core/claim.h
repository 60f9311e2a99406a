/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the name of this process's trace, and takes it without harming a file that has that name. */
#ifndef TPROF_CORE_CLAIM_H
#define TPROF_CORE_CLAIM_H

#include "core/process.h"

/*
 * Renames the complete, locked file at `temporary`. Sets *origin (unless it is TPROF_ORIGIN_FORK) and tpc_claimed_path().
 * Returns 0 or a negative errno; -ECHILD: further processes are not recorded (TPROF_CHILDREN=0). *reason, if set, says more.
 */
int tpc_claim_name(const char *temporary, const struct tpc_identity *identity, uint32_t *origin, const char **reason);

/*
 * Finds out which run this process belongs to (tpc_config.run), unless TPROF_RUN said so: that of its parent's trace,
 * or that of the trace which this process wrote before an exec. If there is neither, this process begins a new run.
 */
void tpc_claim_run(const struct tpc_identity *identity);

/* The name of the trace until it is complete, in the same folder. False: it is too long. */
bool tpc_claim_temporary(const struct tpc_identity *identity, char *to, size_t size);

/* Absolute path of the trace, or of the last attempt if all failed. */
const char *tpc_claimed_path(void);

#endif
