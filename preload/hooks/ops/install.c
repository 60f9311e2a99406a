/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/install.h"

#include "core/lookup.h"
#include "core/state.h"
#include "core/turn.h"
#include "hooks/enter.h"
#include "hooks/loader.h"
#include "hooks/ops/calibrate.h"
#include "hooks/ops/covered.h"
#include "hooks/ops/stubs.h"
#include "hooks/real.h"
#include "hooks/slots.h"

#include <dlfcn.h>

static struct tp_seen seen;
static uint32_t installing;

static bool own_scope_first; /* of some objects; survives a fork, as they do */

void tp_ops_deepbind(void)
{
	tp_store(&own_scope_first, true);
}

/* The program may ask for a message after a dlclose that found nothing wrong, where this is called: it must find none. */
static void *without_message(void *found)
{
	if (!found)
		dlerror();
	return found;
}

static void *find_symbol(void *where, const struct tp_slot *slot)
{
	return without_message(slot->version ? dlvsym(where, slot->symbol, slot->version)
					     : tp_real.dlsym(where, slot->symbol));
}

/* In the scope of the slot's object: its own symbols and those of what it was linked with. */
static void *find_in_own_scope(const struct tp_slot *slot)
{
	void *object = without_message(tp_real.dlopen(slot->object, RTLD_NOLOAD | RTLD_LAZY)), *found;

	if (!object)
		return NULL;
	found = find_symbol(object, slot);
	tp_real.dlclose(object);
	return found;
}

/* The function itself; a call of what stands for it would come round to the slot for ever. */
static void *find_behind_plt(const void *plt, const struct tp_slot *slot)
{
	void *found = tp_lookup_behind(plt, slot->symbol);

	return slot->version && found != find_symbol(RTLD_NEXT, slot) ? NULL : found;
}

/*
 * Where a slot that is not bound yet will lead: in the global scope, else in its object's own (dlsym's two ways of
 * looking, in the loader's order). Some objects have the order reversed (RTLD_DEEPBIND), and do not say so: where both
 * scopes have the symbol, and not the same, nobody can tell.
 */
static void *bind(const struct tp_slot *slot)
{
	void *target = find_symbol(RTLD_DEFAULT, slot), *own = NULL;

	if (target && tp_lookup_is_plt(target, slot->symbol))
		return find_behind_plt(target, slot);
	if (!target || tp_load(&own_scope_first))
		own = find_in_own_scope(slot);
	if (!target)
		return own;
	return own && own != target ? NULL : target;
}

/* ---- coverage: of the object that is being visited ---- */

static struct {
	uint64_t pointers[TPROF_HOOKS_STATES], functions[TPROF_HOOKS_STATES];
} covered;
static uint32_t object; /* its number, of all visits */

static void count(enum tprof_hooks state, uint64_t functions)
{
	covered.pointers[state]++;
	covered.functions[state] += functions;
}

static void put_coverage(const char *path, void *context)
{
	(void)context;
	for (uint32_t state = 0; state < TPROF_HOOKS_STATES; state++) {
		if (covered.pointers[state] || covered.functions[state])
			tp_covered_add((enum tprof_hooks)state, covered.pointers[state], covered.functions[state],
				       path);
	}
	memset(&covered, 0, sizeof(covered));
	object++;
}

/* Not a variable that is called so, nor what leads to a slot that is hooked. */
static bool is_function(const void *target, const char *symbol)
{
	return tp_slots_is_code(target) && !tp_lookup_is_plt(target, symbol) && !tp_lookup_is_data(target, symbol);
}

static void *choose(const struct tp_slot *slot, void *context)
{
	struct tp_op_choice choice;
	void *target, *stub;

	(void)context;
	if (tp_op_is_stub(slot->target))
		return NULL;
	if (!tp_ops_choose(slot->symbol, &choice)) {
		if (choice.refused)
			count(TPROF_HOOKS_UNTOUCHABLE, 1);
		return NULL;
	}
	target = slot->target ? slot->target : bind(slot);
	if (target && !is_function(target, slot->symbol))
		return NULL;
	if (target && choice.signature.bound)
		choice.signature.bound(target);
	if (choice.signature.unhooked)
		return NULL;
	stub = target ? tp_op_stub(target, &choice) : NULL;
	if (!stub)
		count(target ? TPROF_HOOKS_FULL : TPROF_HOOKS_UNBOUND, 1);
	return stub;
}

static void stored(void *stub, bool good, void *context)
{
	struct tp_op_function *function = tp_op_of_stub(stub);

	(void)context;
	if (!good) {
		count(TPROF_HOOKS_PROTECTED, 1);
		return;
	}
	count(TPROF_HOOKS_DONE, function->object != object + 1);
	function->object = object + 1;
}

static void *find_unreached(const struct tp_slot *slot, void *context)
{
	struct tp_op_choice choice;

	(void)context;
	if (tp_ops_choose(slot->symbol, &choice) && !choice.signature.unhooked && !tp_op_is_hooked(slot->target))
		covered.functions[TPROF_HOOKS_UNREACHED]++;
	return NULL;
}

/* ---- installing ---- */

static bool calibrated;
static uint32_t own; /* functions of the calibration's */

static void tell_functions(void)
{
	tp_store(&tp_header->op_functions, tp_op_function_count() - own);
}

/* Where recording is on: what is measured is what it costs. */
static void calibrate(struct tp_thread *thread)
{
	if (calibrated || !tp_op_function_count() || tp_load(&tp_state.mode) != TP_MODE_ON)
		return;
	calibrated = true;
	own = tp_ops_calibrate(thread);
}

static void install(struct tp_thread *thread)
{
	static const struct tp_slot_visitor slots = { choose, stored, put_coverage, NULL };
	static const struct tp_slot_visitor exports = { find_unreached, NULL, put_coverage, NULL };
	uint64_t unloads = seen.unloads;
	size_t before = seen.count, changed = tp_slots_visit(&slots, &seen);

	tp_add(&tp_header->slots, changed);
	tp_slots_exports(&exports, &seen, seen.unloads == unloads ? before : 0);
	calibrate(thread);
	tell_functions();
}

/* With the loader's lock. */
static void install_new(void *thread)
{
	if (!tp_loader_begin())
		return;
	if (tp_slots_are_new(&seen) && tp_turn_take(&installing)) {
		install(thread);
		tp_turn_end(&installing);
	}
	tp_loader_end();
}

/* The thread is busy meanwhile: what the loader allocates for us is none of the program's events. */
void tp_ops_install(void)
{
	const void *frame = __builtin_frame_address(0);
	struct tp_thread *thread;

	if (!tp_ops_wanted())
		return;
	thread = tp_enter(frame);
	if (!thread)
		thread = tp_enter_off(frame); /* a pause may end without a call to the loader */
	if (!thread)
		return;
	tp_loader_locked(install_new, thread);
	tp_leave(thread);
}

/* Not on a coroutine's stack: what is called would find it a strange one each time. */
void tp_ops_resumed(const void *frame)
{
	struct tp_thread *thread = calibrated || !tp_op_function_count() ? NULL : tp_enter(frame);

	if (!thread)
		return;
	if (thread->bounds.low == thread->own.low && tp_turn_take(&installing)) {
		calibrate(thread);
		tell_functions();
		tp_turn_end(&installing);
	}
	tp_leave(thread);
}

struct wish {
	const struct tp_op_choice *choice;
	void *target, *stub;
};

/* With the loader's lock: another thread that makes stubs is waited for. */
static void make_stub(void *context)
{
	struct wish *wish = context;
	const struct tp_signature *signature = &wish->choice->signature;

	if (!tp_turn_take(&installing))
		return;
	if (signature->bound && tp_loader_begin()) {
		signature->bound(wish->target);
		tp_loader_end();
	}
	if (!signature->unhooked)
		wish->stub = tp_op_stub(wish->target, wish->choice);
	tell_functions();
	tp_turn_end(&installing);
}

void *tp_ops_hooked(const char *symbol, void *target)
{
	struct tp_op_choice choice;
	struct wish wish = { &choice, target, NULL };
	struct tp_thread *thread;

	if (!tp_ops_wanted() || tp_op_is_stub(target) || !tp_ops_choose(symbol, &choice) ||
	    !is_function(target, symbol))
		return target;
	thread = tp_enter(__builtin_frame_address(0));
	if (!thread)
		return target;
	tp_loader_locked(make_stub, &wish);
	tp_leave(thread);
	return wish.stub ? wish.stub : target;
}

void tp_ops_tell(uint64_t slots)
{
	tp_add(&tp_header->slots, slots);
	tp_covered_tell();
	tell_functions();
	tp_ops_tell_costs();
}
