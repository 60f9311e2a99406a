/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/bind.h"

#include "core/lookup.h"
#include "core/objects.h"
#include "hooks/link/real.h"

#include <dlfcn.h>

static tpc_shared_bool own_scope_first; /* of some objects; survives a fork, as they do */

void tpc_bind_deep(void)
{
	tpc_store(&own_scope_first, true);
}

/* The program may call dlerror() after a successful dlclose, where this is called: it must find no message. */
static void *without_message(void *found)
{
	if (!found)
		dlerror();
	return found;
}

static void *find_symbol(void *where, const struct tpc_slot *slot)
{
	return without_message(slot->version ? tpc_real.dlvsym(where, slot->symbol, slot->version)
					     : tpc_real.dlsym(where, slot->symbol));
}

static const void *object_of(const void *address)
{
	struct dl_find_object object;

	return tpc_object_find((uintptr_t)address, &object) ? object.dlfo_map_start : NULL;
}

/*
 * The loader takes the first definition in a scope that has the slot's version or none; dlvsym skips one without a
 * version. So if another object precedes the one with that version (an interposer), the decision is left to the loader:
 * false. Symbols of libtprof.so have no version.
 */
static bool find_in(void *where, const struct tpc_slot *slot, void **found)
{
	void *first;

	*found = find_symbol(where, slot);
	first = slot->version ? without_message(tpc_real.dlsym(where, slot->symbol)) : NULL;
	if (!first || object_of(first) == object_of(*found))
		return true;
	*found = first;
	return object_of(first) == object_of((const void *)find_in);
}

/* In the scope of the slot's object: its own symbols and those of the libraries that it was linked with. */
static bool find_in_own_scope(const struct tpc_slot *slot, void **found)
{
	void *object = without_message(tpc_real.dlopen(slot->object, RTLD_NOLOAD | RTLD_LAZY));
	bool told;

	*found = NULL;
	if (!object)
		return true;
	told = find_in(object, slot, found);
	tpc_real.dlclose(object);
	return told;
}

/* The function itself; a call of its PLT entry would come back to the slot forever. */
static void *find_behind_plt(const void *plt, const struct tpc_slot *slot)
{
	void *found = tpc_lookup_behind(plt, slot->symbol);

	return slot->version && found != find_symbol(RTLD_NEXT, slot) ? NULL : found;
}

void *tpc_bind(const struct tpc_slot *slot)
{
	void *target, *own = NULL;

	if (!find_in(RTLD_DEFAULT, slot, &target))
		return NULL;
	if (target && tpc_lookup_is_plt(target, slot->symbol))
		return find_behind_plt(target, slot);
	if ((!target || tpc_load(&own_scope_first)) && !find_in_own_scope(slot, &own))
		return NULL;
	if (!target)
		return own;
	return own && own != target ? NULL : target;
}
