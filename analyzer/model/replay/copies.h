/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the pages that a forked process copied by writing to them: which of them its ancestors had mapped, and by which stack. At a
 * reading of smaps the private memory of a region goes to the mappings in it, in proportion to their size.
 */
#ifndef TPROF_MODEL_REPLAY_COPIES_H
#define TPROF_MODEL_REPLAY_COPIES_H

#include "model/replay/changes.h"

/*
 * Replaces what was found at an earlier reading by what this one shows; of mappings that the ancestor still has. Call it
 * for each ancestor, the nearest first; `ancestor` is its index in the run.
 */
void tpa_copies_clear(struct tpa_copies *copies);
void tpa_copies_find(const struct tpa_reading *child, const struct tpa_maps *parent, size_t ancestor,
		     struct tpa_copies *copies);

#endif
