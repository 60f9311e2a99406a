/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/install.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/lookup.h"
#include "core/state.h"
#include "core/text.h"
#include "core/trylock.h"
#include "hooks/link/bind.h"
#include "hooks/gate/enter.h"
#include "hooks/link/loader.h"
#include "hooks/ops/calibrate.h"
#include "hooks/ops/covered.h"
#include "hooks/ops/stubs.h"
#include "hooks/memory/python_arrays.h"
#include "hooks/link/real.h"
#include "hooks/link/slots.h"
#include "hooks/leakcheck/stubs.h"
#include "stacks/modules.h"
#include "stacks/recall.h"

#include <dlfcn.h>

static struct tp_seen seen;
static uint32_t installing;
/* Slots of functions that may wait, and of numpy's calls: so many of those that were changed are no ops'. */
static size_t others;

/* Lost blocks are told of all that are recorded. */
static bool waits_wanted(void)
{
	return tp_config.alloc != TP_ALLOC_OFF;
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

/* Greenlets have the outer end of a stack in common: it is another one when a greenlet goes on than when it stopped. */
static void doubt_calls(const char *path)
{
	if (!tp_text_glob("_greenlet.*", tp_text_base(path)))
		return;
	tp_recall_hold_nothing();
	tp_modules_doubt();
}

static void put_coverage(const char *path, void *context)
{
	(void)context;
	doubt_calls(path);
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

/* No op, and counted as none: whoever looks for lost blocks is to know what the registers of threads that wait hold. */
static void *choose_wait(const struct tp_slot *slot)
{
	void *target = slot->target ? slot->target : tp_bind(slot);

	return target && is_function(target, slot->symbol) ? tp_wait_stub(target) : NULL;
}

static void *choose_array(const struct tp_slot *slot)
{
	void *target = slot->target ? slot->target : tp_bind(slot);

	return target && is_function(target, slot->symbol) ? tp_python_array_hook(slot->symbol, target) : NULL;
}

static bool is_other(const void *stub)
{
	return tp_wait_is_stub(stub) || tp_python_array_is_hook(stub);
}

static void *choose(const struct tp_slot *slot, void *context)
{
	struct tp_op_choice choice;
	void *target, *stub;

	(void)context;
	if (tp_op_is_stub(slot->target) || is_other(slot->target))
		return NULL;
	if (tp_python_array_symbol(slot->symbol))
		return choose_array(slot);
	if (!tp_ops_choose(slot->symbol, &choice)) {
		if (choice.refused)
			count(TPROF_HOOKS_UNTOUCHABLE, 1);
		return waits_wanted() && tp_wait_is_one(slot->symbol) ? choose_wait(slot) : NULL;
	}
	target = slot->target ? slot->target : tp_bind(slot);
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
	if (is_other(stub)) {
		others += good;
		return;
	}
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
	size_t before = seen.count, changed;

	others = 0;
	if (waits_wanted())
		tp_wait_begin();
	changed = tp_slots_visit(&slots, &seen);
	tp_add(&tp_header->slots, changed - others);
	if (!tp_ops_wanted())
		return;
	tp_slots_exports(&exports, &seen, seen.unloads == unloads ? before : 0);
	calibrate(thread);
	tell_functions();
}

/* With the loader's lock. */
static void install_new(void *thread)
{
	if (!tp_loader_begin())
		return;
	if (tp_slots_are_new(&seen) && tp_trylock_take(&installing)) {
		install(thread);
		tp_trylock_end(&installing);
	}
	tp_loader_end();
}

/* The thread is busy meanwhile: what the loader allocates for us is none of the program's events. */
void tp_ops_install(void)
{
	const void *frame = __builtin_frame_address(0);
	struct tp_thread *thread;
	uint64_t began;

	if (!tp_ops_wanted() && !waits_wanted())
		return;
	thread = tp_enter(frame);
	if (!thread)
		thread = tp_enter_off(frame); /* a pause may end without a call to the loader */
	if (!thread)
		return;
	began = tp_clock_before();
	tp_loader_locked(install_new, thread);
	tp_spent(began);
	tp_leave(thread);
}

/* Not on a coroutine's stack: what is called would find it a strange one each time. */
void tp_ops_resumed(const void *frame)
{
	struct tp_thread *thread = calibrated || !tp_op_function_count() ? NULL : tp_enter(frame);

	if (!thread)
		return;
	if (thread->bounds.low == thread->own.low && tp_trylock_take(&installing)) {
		calibrate(thread);
		tell_functions();
		tp_trylock_end(&installing);
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

	if (!tp_trylock_take(&installing))
		return;
	if (signature->bound && tp_loader_begin()) {
		signature->bound(wish->target);
		tp_loader_end();
	}
	if (!signature->unhooked)
		wish->stub = tp_op_stub(wish->target, wish->choice);
	tell_functions();
	tp_trylock_end(&installing);
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

/* With the loader's lock. */
static void note_elsewhere(void *file)
{
	if (!tp_trylock_take(&installing))
		return;
	tp_covered_add(TPROF_HOOKS_ELSEWHERE, 0, 0, file);
	tp_trylock_end(&installing);
}

void tp_ops_elsewhere(const char *file)
{
	struct tp_thread *thread = tp_enter(__builtin_frame_address(0));

	if (!thread)
		thread = tp_enter_off(__builtin_frame_address(0));
	if (!thread)
		return;
	tp_loader_locked(note_elsewhere, (void *)(uintptr_t)file);
	tp_leave(thread);
}

void tp_ops_tell(void)
{
	tp_covered_tell();
	tell_functions();
	tp_ops_tell_costs();
}
