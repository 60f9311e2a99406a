/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path: what could not have been shorter without the run being over earlier. */
#ifndef TPROF_MODEL_RANKS_PATH_H
#define TPROF_MODEL_RANKS_PATH_H

#include "model/ranks/ranks.h"

/*
 * Fills in ranks->path and the ranks' shares of it. It goes back from the end of the rank that was last to the first call of any;
 * where its rank waited, it goes on at the rank that was waited for.
 */
void tpa_path_find(struct tpa_ranks *ranks);

#endif
