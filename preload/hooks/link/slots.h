/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks functions where they are called: redirects the pointers (GOT slots, and addresses in tables) through which
 * loaded objects reach them. JUMP_SLOT, GLOB_DAT and absolute relocations; RELRO pages are made writable and restored.
 */
#ifndef TPROF_LINK_SLOTS_H
#define TPROF_LINK_SLOTS_H

#include "core/base.h"

struct tpc_slot {
	const char *symbol;
	const char *object;  /* path of the object that contains the slot; "" for the program */
	void *target;	     /* what it points to; NULL: not bound yet */
	const char *version; /* version that it will be bound to; NULL: the default one */
};

struct tpc_slot_visitor {
	/* Returns what the slot shall point to; NULL: leave it. */
	void *(*choose)(const struct tpc_slot *slot, void *context);
	/* The slot points to `value` now, or (`good` false) its page could not be made writable. May be NULL. */
	void (*stored)(void *value, bool good, void *context);
	/* All slots of that object have been offered. May be NULL. */
	void (*visited)(const char *object, void *context);
	void *context;
};

/* The objects that were visited. All zero: none. */
struct tpc_seen {
	struct {
		uintptr_t bias;
		const void *headers;
	} objects[4096];
	size_t count;
	uint64_t loads, unloads; /* of the loader, as of the last visit */
};

/* Has anything been loaded or unloaded since the last visit with this `seen`? Takes the loader's lock. */
bool tpc_slots_are_new(const struct tpc_seen *seen);

/*
 * Offers every slot of the objects that are loaded and were not visited before with the same `seen` (NULL: all), except
 * libtprof.so's own. Returns how many were changed. Takes the loader's lock: never in a hook.
 */
size_t tpc_slots_visit(const struct tpc_slot_visitor *visitor, struct tpc_seen *seen);

/*
 * Shows the functions that objects export, for the objects from number `from` on in `seen`. Passed as slots whose
 * `target` is the function; `visited` is called after each object. Takes the loader's lock.
 */
void tpc_slots_exports(const struct tpc_slot_visitor *visitor, const struct tpc_seen *seen, size_t from);

/* Shows the objects from number `from` on in `seen`. Takes the loader's lock. */
struct dl_phdr_info;
void tpc_slots_objects(const struct tpc_seen *seen, size_t from, void (*look)(const struct dl_phdr_info *, void *),
		       void *context);

/* Is there code at that address of a loaded object? Names don't distinguish functions from variables. */
bool tpc_slots_is_code(const void *address);

#endif
