/* SPDX-License-Identifier: Apache-2.0 */
/* Which communicators of different processes are the same one. */
#ifndef TPROF_MODEL_RANKS_COMMUNICATORS_H
#define TPROF_MODEL_RANKS_COMMUNICATORS_H

#include "model/ranks/ranks.h"

/*
 * Fills in ranks->communicators, but for its sums. Returns, by rank, a list that has for each communicator of its process the index in
 * ranks->communicators. The caller frees it and its lists.
 */
uint32_t **tpa_communicators_join(struct tpa_ranks *ranks);

#endif
