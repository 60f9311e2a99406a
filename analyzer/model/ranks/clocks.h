/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the clocks of the hosts by what their ranks did: nobody leaves a barrier before the last came, nothing is received before it was
 * sent. The processes of one host share a clock.
 */
#ifndef TPROF_MODEL_RANKS_CLOCKS_H
#define TPROF_MODEL_RANKS_CLOCKS_H

#include "model/ranks/ranks.h"

/*
 * Fills in ranks->hosts, which has the hosts' names already, and moves the times of all ops to the clock of the first host. The groups
 * must be matched.
 */
void tpa_clocks_align(struct tpa_ranks *ranks);

#endif
