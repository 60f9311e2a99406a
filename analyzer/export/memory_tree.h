/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process by stack, for formats that want few stacks: equal ones are one, and of many the small ones are merged. */
#ifndef TPROF_EXPORT_MEMORY_TREE_H
#define TPROF_EXPORT_MEMORY_TREE_H

#include "export/sites.h"
#include "export/stack_tree.h"

enum tpa_memory {
	TPA_MEMORY_PEAK,
	TPA_MEMORY_ALLOCATED,
	TPA_MEMORY_UNFREED,
	TPA_MEMORY_GROWTH,
	TPA_MEMORIES,			 /* those above are profiles of their own */
	TPA_MEMORY_FREED = TPA_MEMORIES, /* what was allocated and is not unfreed */
	TPA_MEMORY_KINDS
};

/* What a profile of it is called. */
extern const char *const tpa_memory_names[TPA_MEMORIES];

/* Which of them --what names. */
enum tpa_memory tpa_memory_of(enum tpa_what what);

struct tpa_memory_tree {
	struct tpa_stack_tree stacks;
	uint64_t (*bytes)[TPA_MEMORY_KINDS]; /* by node: of its own, without those that it calls */
	size_t count, room;
	uint64_t sums[TPA_MEMORY_KINDS];
	bool merged[TPA_MEMORY_KINDS]; /* small stacks are */
};

/* Reads a process of export->run, which the filter and the suppressions apply to. */
void tpa_memory_tree_read(struct tpa_memory_tree *tree, struct tpa_export *export, const struct tpa_process *process,
			  struct tpa_frame_table *frames);
void tpa_memory_tree_free(struct tpa_memory_tree *tree);

#endif
