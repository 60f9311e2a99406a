/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/install.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/lookup.h"
#include "core/state.h"
#include "core/text.h"
#include "core/trylock.h"
#include "hooks/link/bind.h"
#include "hooks/link/code.h"
#include "hooks/gate/enter.h"
#include "hooks/link/late.h"
#include "hooks/link/loader.h"
#include "hooks/ops/calibrate.h"
#include "hooks/link/covered.h"
#include "hooks/ops/in_code.h"
#include "hooks/ops/stubs.h"
#include "hooks/ops/waits.h"
#include "hooks/memory/python_arrays.h"
#include "hooks/memory/ruled.h"
#include "hooks/link/real.h"
#include "hooks/link/slots.h"
#include "hooks/leakcheck/stubs.h"
#include "stacks/frame_table.h"
#include "stacks/leaves.h"

#include <dlfcn.h>

static struct tpc_seen seen;
static tpc_shared_u32 installing;
/* Changed slots that belong to no op: of functions that may wait, of numpy's calls, and all others if it came late. */
static size_t others;

/* The leak check needs them if allocations are recorded. */
static bool waits_wanted(void)
{
	return tpc_config.alloc != TPC_ALLOC_OFF;
}

/* ---- coverage: of the object that is being visited ---- */

static struct {
	uint64_t pointers[TPROF_HOOKS_STATES], functions[TPROF_HOOKS_STATES];
} covered;
static uint32_t object; /* number of the object, over all visits */

static void count(enum tprof_hooks state, uint64_t functions)
{
	covered.pointers[state]++;
	covered.functions[state] += functions;
}

/* Greenlets share the outer end of a stack: it is different when a greenlet continues. */
static void doubt_calls(const char *path)
{
	if (!tpc_text_glob("_greenlet.*", tpc_text_base(path)))
		return;
	tpc_leaf_hold_nothing();
	tpc_frames_doubt();
}

static void put_coverage(const char *path, void *context)
{
	(void)context;
	doubt_calls(path);
	for (uint32_t state = 0; state < TPROF_HOOKS_STATES; state++) {
		if (covered.pointers[state] || covered.functions[state])
			tpc_covered_add((enum tprof_hooks)state, covered.pointers[state], covered.functions[state],
					path);
	}
	memset(&covered, 0, sizeof(covered));
	object++;
}

/* Not a variable of that name, nor a PLT entry whose slot is hooked. */
static bool is_function(const void *target, const char *symbol)
{
	return tpc_slots_is_code(target) && !tpc_lookup_is_plt(target, symbol) && !tpc_lookup_is_data(target, symbol);
}

/*
 * Blocking call: saves the caller's registers for the leak check, and may tell how long it took; not an op. Both may be wanted: the
 * call goes through one stub to the other.
 */
static void *choose_wait(const struct tpc_slot *slot)
{
	void *target = slot->target ? slot->target : tpc_bind(slot), *stub = NULL;
	struct tpc_op_choice choice;

	if (!target || !is_function(target, slot->symbol))
		return NULL;
	if (waits_wanted())
		stub = tpc_wait_stub(target);
	if (!tpc_waits_are_timed())
		return stub;
	tpc_waits_choose(slot->symbol, &choice);
	return tpc_op_stub(stub ? stub : target, &choice) ?: stub;
}

static void *choose_array(const struct tpc_slot *slot)
{
	void *target = slot->target ? slot->target : tpc_bind(slot);

	return target && is_function(target, slot->symbol) ? tpc_python_array_hook(slot->symbol, target) : NULL;
}

static bool is_other(const void *stub)
{
	return tpc_wait_is_stub(stub) || tpc_python_array_is_hook(stub);
}

static void *choose(const struct tpc_slot *slot, void *context)
{
	struct tpc_op_choice choice;
	void *target, *stub;

	(void)context;
	if (tpc_op_is_stub(slot->target) || is_other(slot->target))
		return NULL;
	stub = tpc_late_is_on() ? tpc_late_hook(slot) : NULL;
	if (stub)
		return stub;
	if (tpc_python_array_symbol(slot->symbol))
		return choose_array(slot);
	if (!tpc_ops_choose(slot->symbol, &choice)) {
		if (choice.refused)
			count(TPROF_HOOKS_UNTOUCHABLE, 1);
		return (waits_wanted() || tpc_waits_are_timed()) && tpc_wait_is_one(slot->symbol) ? choose_wait(slot)
												  : NULL;
	}
	target = slot->target ? slot->target : tpc_bind(slot);
	if (target && !is_function(target, slot->symbol))
		return NULL;
	if (target && choice.signature.bound)
		choice.signature.bound(target);
	if (choice.signature.unhooked)
		return NULL;
	stub = target ? tpc_op_stub(target, &choice) : NULL;
	if (!stub)
		count(target ? TPROF_HOOKS_FULL : TPROF_HOOKS_UNBOUND, 1);
	return stub;
}

static void stored(void *stub, bool good, void *context)
{
	struct tpc_op_function *function;

	(void)context;
	if (!tpc_op_is_stub(stub) || tpc_op_of_stub(stub)->signature.op == tpc_waits_op) {
		others += good;
		return;
	}
	if (!good) {
		count(TPROF_HOOKS_PROTECTED, 1);
		return;
	}
	function = tpc_op_of_stub(stub);
	count(TPROF_HOOKS_DONE, function->object != object + 1);
	function->object = object + 1;
}

static void *find_unreached(const struct tpc_slot *slot, void *context)
{
	struct tpc_op_choice choice;

	(void)context;
	if (tpc_ops_choose(slot->symbol, &choice) && !choice.signature.unhooked && !tpc_op_is_hooked(slot->target) &&
	    !tpc_op_is_refused(slot->target))
		covered.functions[TPROF_HOOKS_UNREACHED]++;
	return NULL;
}

/* ---- installing ---- */

static tpc_shared_bool calibrated;
static uint32_t own; /* functions that the calibration added */

static void tell_functions(void)
{
	uint32_t waits = 0;

	for (uint32_t i = 0; tpc_waits_are_timed() && i < tpc_op_function_count(); i++)
		waits += tpc_op_functions[i].signature.op == tpc_waits_op;
	tpc_store(&tpc_header->op_functions, tpc_op_function_count() - own - waits);
}

/* Needs recording to be on, as its cost is measured. */
static void calibrate(struct tpc_thread *thread)
{
	if (tpc_load(&calibrated) || !tpc_op_function_count() || tpc_load(&tpc_state.mode) != TPC_MODE_ON)
		return;
	tpc_store(&calibrated, true);
	own = tpc_ops_calibrate(thread);
}

static size_t code_from = SIZE_MAX; /* objects that are not looked through yet for functions to hook in their code */

/* Allocators of the program's own; ops that no pointer leads to; and what then is left. */
static void hook_code(void)
{
	static const struct tpc_slot_visitor exports = { find_unreached, NULL, put_coverage, NULL };

	if (!tpc_ruled_hook(&seen, code_from) || !tpc_ops_hook_code(&seen, code_from))
		return;
	if (tpc_ops_wanted())
		tpc_slots_exports(&exports, &seen, code_from);
	code_from = SIZE_MAX;
}

static void install(struct tpc_thread *thread)
{
	static const struct tpc_slot_visitor slots = { choose, stored, put_coverage, NULL };
	uint64_t unloads = seen.unloads;
	size_t before = seen.count, changed;

	others = 0;
	if (waits_wanted())
		tpc_wait_begin();
	changed = tpc_slots_visit(&slots, &seen);
	tpc_add(&tpc_header->slots, changed - others);
	if (seen.unloads != unloads)
		before = 0;
	code_from = before < code_from ? before : code_from;
	hook_code();
	calibrate(thread);
	tell_functions();
}

/* With the loader's lock. */
static void install_new(void *thread)
{
	if (!tpc_loader_begin())
		return;
	if (tpc_slots_are_new(&seen) && tpc_trylock_take(&installing)) {
		install(thread);
		tpc_trylock_end(&installing);
	}
	tpc_loader_end();
}

/* The same, once the decoder was looked for. */
static void install_code(void *thread)
{
	if (!tpc_loader_begin())
		return;
	if (tpc_trylock_take(&installing)) {
		hook_code();
		calibrate(thread);
		tell_functions();
		tpc_trylock_end(&installing);
	}
	tpc_loader_end();
}

/* The thread is busy meanwhile: allocations that the loader makes for us are no events of the program. */
void tpc_ops_install(void)
{
	const void *frame = __builtin_frame_address(0);
	struct tpc_thread *thread;
	uint64_t began;

	if (!tpc_ops_wanted() && !waits_wanted() && !tpc_late_is_on())
		return;
	thread = tpc_enter(frame);
	if (!thread)
		thread = tpc_enter_off(frame); /* a pause may end without another call to the loader */
	if (!thread)
		return;
	began = tpc_clock_before();
	tpc_loader_locked(install_new, thread);
	if (code_from != SIZE_MAX) {
		tpc_code_load();
		tpc_loader_locked(install_code, thread);
	}
	tpc_spent(began);
	tpc_leave(thread);
}

static void *choose_unhooked(const struct tpc_slot *slot, void *context)
{
	void *target = slot->target;

	(void)context;

	if (tpc_op_is_stub(target))
		target = tpc_op_of_stub(target)->address;
	if (tpc_wait_is_stub(target))
		target = tpc_wait_function(target);
	if (target != slot->target)
		return target;
	return tpc_late_is_hook(slot) ? tpc_late_behind(slot) : NULL;
}

/* With the loader's lock. */
static void uninstall(void *done)
{
	static const struct tpc_slot_visitor slots = { choose_unhooked, NULL, NULL, NULL };

	if (!tpc_loader_begin())
		return;
	if (tpc_trylock_take(&installing)) {
		tpc_slots_visit(&slots, NULL);
		memset(&seen, 0, sizeof(seen)); /* all objects are new again */
		tpc_covered_forget();
		*(bool *)done = true;
		tpc_trylock_end(&installing);
	}
	tpc_loader_end();
}

bool tpc_ops_uninstall(void)
{
	struct tpc_thread *thread = tpc_enter_off(__builtin_frame_address(0));
	bool done = false;

	if (!thread)
		return false;
	tpc_loader_locked(uninstall, &done);
	tpc_leave(thread);
	return done;
}

/* Not on a coroutine's stack: each call would find an unknown stack. */
void tpc_ops_resumed(const void *frame)
{
	struct tpc_thread *thread = tpc_load(&calibrated) || !tpc_op_function_count() ? NULL : tpc_enter(frame);

	if (!thread)
		return;
	if (thread->bounds.low == thread->own.low && tpc_trylock_take(&installing)) {
		calibrate(thread);
		tell_functions();
		tpc_trylock_end(&installing);
	}
	tpc_leave(thread);
}

struct wish {
	const struct tpc_op_choice *choice;
	void *target, *stub;
};

/* With the loader's lock, so that it waits for other threads that make stubs. */
static void make_stub(void *context)
{
	struct wish *wish = context;
	const struct tpc_signature *signature = &wish->choice->signature;

	if (!tpc_trylock_take(&installing))
		return;
	if (signature->bound && tpc_loader_begin()) {
		signature->bound(wish->target);
		tpc_loader_end();
	}
	if (!signature->unhooked)
		wish->stub = tpc_op_stub(wish->target, wish->choice);
	tell_functions();
	tpc_trylock_end(&installing);
}

void *tpc_ops_hooked(const char *symbol, void *target)
{
	struct tpc_op_choice choice;
	struct wish wish = { &choice, target, NULL };
	struct tpc_thread *thread;

	if (!tpc_ops_wanted() || tpc_op_is_stub(target) || !tpc_ops_choose(symbol, &choice) ||
	    !is_function(target, symbol))
		return target;
	thread = tpc_enter(__builtin_frame_address(0));
	if (!thread)
		return target;
	tpc_loader_locked(make_stub, &wish);
	tpc_leave(thread);
	return wish.stub ? wish.stub : target;
}

/* With the loader's lock. */
static void note_elsewhere(void *file)
{
	if (!tpc_trylock_take(&installing))
		return;
	tpc_covered_add(TPROF_HOOKS_ELSEWHERE, 0, 0, file);
	tpc_trylock_end(&installing);
}

void tpc_ops_elsewhere(const char *file)
{
	struct tpc_thread *thread = tpc_enter(__builtin_frame_address(0));

	if (!thread)
		thread = tpc_enter_off(__builtin_frame_address(0));
	if (!thread)
		return;
	tpc_loader_locked(note_elsewhere, (void *)(uintptr_t)file);
	tpc_leave(thread);
}

void tpc_ops_tell(void)
{
	tpc_covered_tell();
	tell_functions();
	tpc_ops_tell_costs();
}
