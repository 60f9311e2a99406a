/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/install.h"

#include "core/state.h"
#include "hooks/enter.h"
#include "hooks/ops/stubs.h"
#include "hooks/real.h"
#include "hooks/slots.h"

#include <dlfcn.h>

static struct tp_seen seen;
static uint32_t installing;

/*
 * Where a slot that is not bound yet will lead: in the global scope, else in its object's own (dlsym's two ways of
 * looking, in the loader's order).
 */
static void *bind(const struct tp_slot *slot)
{
	void *target = tp_real.dlsym(RTLD_DEFAULT, slot->symbol), *object;

	if (target)
		return target;
	dlerror();
	object = tp_real.dlopen(slot->object, RTLD_NOLOAD | RTLD_LAZY);
	if (!object)
		return NULL;
	target = tp_real.dlsym(object, slot->symbol);
	tp_real.dlclose(object);
	return target;
}

static void *choose(const struct tp_slot *slot, void *context)
{
	struct tp_op_choice choice;
	void *target;

	(void)context;
	if (tp_op_is_stub(slot->target) || !tp_ops_choose(slot->symbol, &choice))
		return NULL;
	target = slot->target ? slot->target : bind(slot);
	return target ? tp_op_stub(target, &choice) : NULL;
}

/* The thread is busy meanwhile: what the loader allocates for us is none of the program's events. */
void tp_ops_install(void)
{
	struct tp_thread *thread;
	size_t slots;

	if (!tp_ops_wanted() || !tp_swap_if(&installing, 0u, 1u))
		return;
	thread = tp_enter(__builtin_frame_address(0));
	if (thread || tp_state_has_trace()) { /* waiting or paused: nothing of it would be recorded anyway */
		slots = tp_slots_visit(choose, NULL, &seen);
		tp_add(&tp_header->slots, slots);
		if (thread)
			tp_leave(thread);
	}
	tp_store_release(&installing, 0u);
}
