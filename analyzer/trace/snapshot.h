/* SPDX-License-Identifier: Apache-2.0 */
/* A frozen process: its mappings and its memory, as /proc shows them. */
#ifndef TPROF_TRACE_SNAPSHOT_H
#define TPROF_TRACE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <tprof/format.h>

struct tpa_frozen_map {
	uint64_t low, high;
	uint64_t offset, inode; /* in the file; 0: of none */
	bool readable, writable, executable;
	bool shared, anonymous; /* anonymous: of no file; its path is "" or what the kernel calls it, "[heap]" */
	bool device;		/* memory of a device: it can't be read from outside */
	/* A fork does not have these pages (MADV_DONTFORK), or has zeros in their place (MADV_WIPEONFORK): they are read from
	 * the process that was forked. */
	bool of_parent;
	char path[256]; /* cut if longer */
};

struct tpa_frozen_memory {
	int memory, pagemap; /* open files; pagemap -1: not available */
};

struct tpa_frozen {
	pid_t pid, parent; /* the fork, and the process that it is a fork of, which runs on */
	uint64_t note_at;
	struct tpa_frozen_memory own, parents; /* parents.memory -1: not open yet */
	struct tpa_frozen_map *maps;	       /* all of them, by address */
	size_t count, room;
	struct tprof_snapshot *note; /* what the collector noted of it */
	/* Unused parts of stacks, which may hold any word. In order once tpa_frozen_bury() was called. */
	struct tprof_range *dead;
	size_t dead_count, dead_room;
	/* The first read that failed, which makes the search's result invalid; failed 0: none did. */
	uint64_t failed_at;
	int failed; /* errno; ESRCH: the process has ended */
};

/* `note_at`, `bytes`: header.snapshot_at and snapshot_bytes. False: *error says why (as tpa_control_open()). */
bool tpa_frozen_open(struct tpa_frozen *frozen, pid_t pid, pid_t parent, uint64_t note_at, uint64_t bytes,
		     char **error);
void tpa_frozen_close(struct tpa_frozen *frozen);

/* The mapping that holds the address; NULL: none does. */
const struct tpa_frozen_map *tpa_frozen_find(const struct tpa_frozen *frozen, uint64_t address);

/* Copies memory of the fork. Returns the bytes copied. */
size_t tpa_frozen_copy(const struct tpa_frozen *frozen, uint64_t address, void *to, size_t size);

/*
 * The same for the search: skips pages that were never touched, since nothing points there, and reads dead ranges as zeros.
 * Memory that should be there and can't be read is noted in `failed`.
 */
size_t tpa_frozen_read(void *frozen, uint64_t address, void *to, size_t size);

/* Marks a range as dead: unused parts of stacks. Call tpa_frozen_bury() after the last one, before the first read. */
void tpa_frozen_dead(struct tpa_frozen *frozen, uint64_t low, uint64_t high);
void tpa_frozen_bury(struct tpa_frozen *frozen);

/* Whether everything could be read and the process is still there. False: *error says what is wrong. */
bool tpa_frozen_whole(struct tpa_frozen *frozen, char **error);

/* The parts of a shared mapping that hold data, as its file says. Reading a hole could make pages of it. */
typedef void tpa_frozen_part(void *context, uint64_t low, uint64_t high);
void tpa_frozen_shared(const struct tpa_frozen *frozen, const struct tpa_frozen_map *map, tpa_frozen_part *visit,
		       void *context);

#endif
