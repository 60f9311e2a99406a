/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that calls make: non-blocking ones end in another call than they begin in. */
#ifndef TPROF_MODEL_RANKS_OPERATIONS_H
#define TPROF_MODEL_RANKS_OPERATIONS_H

#include "model/ranks/ranks.h"

/*
 * Fills in ranks->ops and the places of each rank's ops, with times of each rank's own clock, and ranks->lost. `communicators`: as
 * tpa_communicators_join() returns it.
 */
void tpa_operations_make(struct tpa_ranks *ranks, uint32_t *const *communicators);

#endif
