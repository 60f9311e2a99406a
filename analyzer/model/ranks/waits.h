/* SPDX-License-Identifier: Apache-2.0 */
/* Tells waiting from transfer, and says who was waited for. */
#ifndef TPROF_MODEL_RANKS_WAITS_H
#define TPROF_MODEL_RANKS_WAITS_H

#include "model/ranks/ranks.h"

/*
 * Fills in what ops and groups say of waiting, transfer and gain. Groups must be matched, and times be of one clock. What a rank spends in a
 * call until the last whom it needs has come is waiting, the rest transfer.
 */
void tpa_waits_find(struct tpa_ranks *ranks);

#endif
