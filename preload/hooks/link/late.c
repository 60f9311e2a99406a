/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/late.h"

#include "core/lookup.h"
#include "hooks/link/bind.h"

static tpc_shared_bool is_on;

void tpc_late_begin(void)
{
	tpc_lookup_came_last();
	tpc_store(&is_on, true);
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
