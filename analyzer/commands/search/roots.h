/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the roots of the search for blocks that nothing points to, in a stopped process. */
#ifndef TPROF_COMMANDS_SEARCH_ROOTS_H
#define TPROF_COMMANDS_SEARCH_ROOTS_H

#include "model/replay/reach.h"
#include "trace/snapshot.h"

struct tpa_roots {
	struct tpa_reach_roots all;
	struct tpa_reach_root *ranges;
	uint64_t *words;
	struct tprof_range *files;
	size_t room, word_room, file_room;
	uint64_t sp; /* start of the used part of the forking thread's stack */
};

/*
 * Finds the roots, and marks the dead parts of stacks in *frozen. `still`: header.snapshot_still. `allocator`: path of
 * the object that defines malloc.
 */
void tpa_roots_find(struct tpa_roots *roots, struct tpa_frozen *frozen, const struct tpa_reach_held *held,
		    const uint64_t *still, const char *allocator);
void tpa_roots_free(struct tpa_roots *roots);

#endif
