/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/late.h"

#include "arch/arch.h"
#include "core/lookup.h"
#include "hooks/link/bind.h"

static tpc_shared_bool is_on;

void tpc_late_begin(void)
{
	tpc_lookup_came_last();
	tpc_store(&is_on, true);
}

static uintptr_t goes_on_at; /* 0: nowhere */

void tpc_late_set_place(const void *place)
{
	goes_on_at = (uintptr_t)place;
}

bool tpc_late_is_at_begin(uintptr_t function)
{
	return goes_on_at > function && goes_on_at - function < TPC_CODE_MOVED_MAX;
}

bool tpc_late_is_on(void)
{
	return tpc_load(&is_on);
}

void tpc_late_set(bool on)
{
	tpc_store(&is_on, on);
}

static void *own(const char *symbol)
{
	return tpc_lookup_beside((const void *)&tpc_late_hook, symbol);
}

void *tpc_late_hook(const struct tpc_slot *slot)
{
	void *hook = own(slot->symbol);
	void *target = hook && !slot->target ? tpc_bind(slot) : slot->target;

	return hook && target && target == tpc_lookup_next(slot->symbol) ? hook : NULL;
}

bool tpc_late_is_hook(const struct tpc_slot *slot)
{
	return slot->target && slot->target == own(slot->symbol);
}

void *tpc_late_behind(const struct tpc_slot *slot)
{
	return tpc_lookup_next(slot->symbol);
}
