/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hooks of communication libraries remember: the groups (communicators, windows) that calls refer to, and the
 * requests that were begun and are not known to be complete. Both are found by the library's handles, in tables of fixed
 * size: any thread, no lock, no allocation.
 */
#ifndef TPROF_HOOKS_OPS_PRESETS_COMM_H
#define TPROF_HOOKS_OPS_PRESETS_COMM_H

#include "core/emit.h"
#include "core/tables.h"

/* ---- groups ---- */

struct tpc_group {
	tpc_shared_u64 key;	 /* the handle; 0: the place is free, 1: it is being written */
	tpc_shared_u64 sequence; /* collective calls so far */
	uint32_t number;	 /* in the trace */
	uint32_t size, rank;
	int32_t leader;	  /* rank in the world of its rank 0; -1: not known */
	uint32_t in, out; /* neighbours; 0: it has no topology */
	uint8_t kind;	  /* enum tprof_group */
} __attribute__((aligned(64)));

/* NULL: not known. Valid until the group is removed. */
struct tpc_group *tpc_group_find(uint64_t key);

/*
 * Writes the group's record, whose number it sets, and remembers it. A group with the same key is replaced: its handle is
 * used again. NULL: there is no room. The thread is recording.
 */
struct tpc_group *tpc_group_add(uint64_t key, struct tpc_communicator_record *record);
void tpc_group_remove(uint64_t key);

/* The number of the next collective call of that group: 1, 2, ... */
static inline uint64_t tpc_group_next(struct tpc_group *group)
{
	return tpc_add(&group->sequence, UINT64_C(1)) + 1;
}

/* ---- requests ---- */

struct tpc_pending {
	uint64_t number;      /* 0: a persistent one that is not active */
	struct tpc_comm comm; /* with `flags` TPROF_COMM_PERSISTENT: what each start asks for */
};

uint64_t tpc_request_number(void); /* a new one */

/* Several may have one handle: those that were complete at once. False: there is no room, and nobody will see its end. */
bool tpc_request_add(uint64_t key, const struct tpc_pending *pending);

/* False: not known. */
bool tpc_request_find(uint64_t key, struct tpc_pending *pending);

/* A persistent request begins: it gets a new number, and *pending is as it was with it. False: not known. */
bool tpc_request_start(uint64_t key, struct tpc_pending *pending);

/*
 * The request with that handle and number is complete: a persistent one is no longer active, another one forgotten. True: it
 * was not complete before.
 */
bool tpc_request_complete(uint64_t key, uint64_t number);

/* Forgets it, a persistent one, too. */
void tpc_request_remove(uint64_t key, uint64_t number);

/* In a forked child, which is no member of any group. */
void tpc_comm_forget(void);

#endif
