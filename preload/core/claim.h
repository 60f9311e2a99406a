/* SPDX-License-Identifier: Apache-2.0 */
/* Which name the trace of this process gets, and taking that name without harm to what stands there. */
#ifndef TPROF_CORE_CLAIM_H
#define TPROF_CORE_CLAIM_H

#include "core/process.h"

/*
 * Gives the whole, locked new file at `temporary` its name. Sets *origin as it turns out (TPROF_ORIGIN_FORK stays) and
 * tpc_claimed_path(). 0, or a negative errno; -ECHILD: further processes are not wanted (TPROF_CHILDREN=0). *reason, if
 * set, says more.
 */
int tpc_claim_name(const char *temporary, const struct tpc_identity *identity, uint32_t *origin, const char **reason);

/*
 * Finds out which run this process belongs to (tpc_config.run) if TPROF_RUN did not say so: that of its parent's trace, or of
 * the one that this process itself wrote before an exec. If there is none, a new run begins with it.
 */
void tpc_claim_run(const struct tpc_identity *identity);

/* A name beside the trace's for the file in the making. False: it is too long. */
bool tpc_claim_temporary(const struct tpc_identity *identity, char *to, size_t size);

/* Absolute path of the trace; of the last try, if none worked. */
const char *tpc_claimed_path(void);

#endif
