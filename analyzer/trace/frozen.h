/* SPDX-License-Identifier: Apache-2.0 */
/* A process that stands still: its mappings and its memory, as /proc shows them. */
#ifndef TPROF_TRACE_FROZEN_H
#define TPROF_TRACE_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <tprof/format.h>

struct tp_frozen_map {
	uint64_t low, high;
	bool shared, anonymous; /* anonymous: of no file; its path is "" or what the kernel calls it, "[heap]" */
	char path[256];		/* cut if longer */
};

struct tp_frozen {
	pid_t pid;
	uint64_t note_at;
	int memory, pagemap;	    /* pagemap -1: not to be had */
	struct tp_frozen_map *maps; /* those that can be read and written to, by address */
	size_t count;
	struct tprof_snapshot *note; /* what it says of itself */
	/* Of the stack of the thread that forked: what the program does not use, and any word may stand in. */
	struct tprof_range dead[2];
};

/* `note_at`, `bytes`: header.snapshot_at and snapshot_bytes. False: *error says why (as tp_control_open()). */
bool tp_frozen_open(struct tp_frozen *frozen, pid_t pid, uint64_t note_at, uint64_t bytes, char **error);
void tp_frozen_close(struct tp_frozen *frozen);

/* Copies memory, whatever it is. Returns the bytes copied. */
size_t tp_frozen_copy(const struct tp_frozen *frozen, uint64_t address, void *to, size_t size);

/*
 * The same for the search: of pages that were never touched nothing, as nothing points there, and zeros for what is dead.
 */
size_t tp_frozen_read(void *frozen, uint64_t address, void *to, size_t size);

#endif
