/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations of different ranks belong together. */
#ifndef TPROF_MODEL_RANKS_MATCH_H
#define TPROF_MODEL_RANKS_MATCH_H

#include "model/ranks/ranks.h"

/*
 * Fills in ranks->groups and ranks->members, without their times, and the counts of what has no partner. Collectives are matched by
 * communicator and sequence; messages by communicator, source, destination and tag, the n-th sent with the n-th received. They do not
 * overtake one another.
 */
void tpa_ranks_match(struct tpa_ranks *ranks);

#endif
