/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions hooked where they are called: the pointers (GOT slots, and addresses in tables) through which loaded objects
 * reach them are made to point elsewhere. JUMP_SLOT, GLOB_DAT and absolute relocations; RELRO is made writable for the
 * moment and restored.
 */
#ifndef TPROF_HOOKS_SLOTS_H
#define TPROF_HOOKS_SLOTS_H

#include "core/base.h"

struct tp_slot {
	const char *symbol;
	const char *object; /* path of the object that holds the slot; "" for the program */
	void *target;	    /* what it points to; NULL: not bound yet */
};

/* What a slot shall point to; NULL: leave it. */
typedef void *tp_slot_choice(const struct tp_slot *slot, void *context);

/*
 * Offers every slot of the objects that are loaded now and were not visited before by a visit with the same `seen` (NULL:
 * all), but libtprof.so's own. Returns how many were changed. Takes the loader's lock: never in a hook.
 */
struct tp_seen {
	struct {
		uintptr_t bias;
		const void *headers;
	} objects[4096];
	size_t count;
	uint64_t loads, unloads; /* of the loader, as of the last visit */
};

size_t tp_slots_visit(tp_slot_choice *choose, void *context, struct tp_seen *seen);

#endif
