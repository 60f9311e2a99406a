/* SPDX-License-Identifier: Apache-2.0 */
/* Called by arch/x86_64/ruled.S before and after a function that is hooked by a rule. */
#include "hooks/gate/paused_frees.h"
#include "hooks/memory/pool.h"
#include "hooks/memory/record.h"
#include "hooks/memory/ruled.h"

#define ARGUMENTS 6u

struct call { /* below the frame, as long as the call lasts (TPC_OP_SPACE); its last word holds the function's index */
	struct tpc_thread *thread; /* NULL: it is not recorded */
	uint64_t block;	 /* of a reallocation: the old one. Of a pool: the last one that the thread allocated */
	uint64_t events; /* of a pool: of the thread so far. Of a reallocation: was the free recorded? */
};
_Static_assert(sizeof(struct call) <= TPC_RULED_SPACE, "the frame has room for it");

/* The frame of the outermost function that allocates from a pool: pools call their own functions. 0: none. */
static TPC_TLS uintptr_t pool_frame;

static struct call *call_of(const uintptr_t *frame)
{
	return (struct call *)((uintptr_t)frame - TPC_RULED_AT);
}

/* Argument `number`, from 1 on; 0 if there is none. */
static uintptr_t argument(const uintptr_t *frame, uint32_t number)
{
	return number ? *(frame - number) : 0;
}

static uint64_t size_of(const struct tpc_alloc_rule *rule, const uintptr_t *frame)
{
	if (rule->bytes)
		return rule->bytes;
	return argument(frame, rule->size) * (rule->factor ? argument(frame, rule->factor) : 1);
}

/* What the function returned: ruled.S has stored it. */
static void *result_of(const struct tpc_alloc_rule *rule, const uintptr_t *frame)
{
	uintptr_t returned = *(frame - TPC_RULED_RESULT);

	if (!rule->block || rule->kind != TPC_RULE_ALLOC)
		return (void *)returned;
	return (int)returned == 0 ? *(void **)argument(frame, rule->block) : NULL;
}

/* ---- allocators ---- */

static bool alloc_begins(struct call *call, const uintptr_t *frame)
{
	call->thread = tpc_unlikely(tpc_gate()) ? NULL : tpc_enter(frame);
	if (!call->thread)
		tpc_unrecorded(1);
	return call->thread != NULL;
}

static void alloc_ends(const struct tpc_alloc_rule *rule, const struct call *call, const uintptr_t *frame)
{
	void *block = result_of(rule, frame);
	uint64_t size = size_of(rule, frame);

	if (block)
		tpc_record_block(call->thread, frame, block, (struct tpc_request){ size, TPROF_FN_RULED_ALLOC, 0 },
				 size);
	tpc_leave(call->thread);
}

/* In a pause, and the block was not recorded, or its free was. */
static bool passes(const void *block)
{
	uint32_t gate = tpc_gate();

	return tpc_unlikely(gate) && tpc_paused_free_passes(gate, block);
}

static bool free_begins(struct call *call, const uintptr_t *frame, void *block)
{
	if (!block || passes(block))
		return false;
	call->thread = tpc_enter_end_of(frame, block);
	if (!call->thread) {
		tpc_unrecorded(1);
		return false;
	}
	tpc_record_free(call->thread, block, TPROF_FN_RULED_FREE);
	if (tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED)
		tpc_paused_free_note(block);
	return true;
}

static bool realloc_begins(struct call *call, const uintptr_t *frame, void *old)
{
	if (!old)
		return alloc_begins(call, frame);
	if (passes(old))
		return false;
	call->thread = tpc_enter_end_of(frame, old);
	if (!call->thread) {
		tpc_unrecorded(2);
		return false;
	}
	call->events = tpc_record_free(call->thread, old, TPROF_FN_RULED_REALLOC);
	tpc_paused_free_note_moving(old, call->events);
	return true;
}

static void realloc_ends(const struct tpc_alloc_rule *rule, const struct call *call, const uintptr_t *frame)
{
	void *old = (void *)argument(frame, rule->block), *block = result_of(rule, frame);
	struct tpc_request request = { size_of(rule, frame), TPROF_FN_RULED_REALLOC, 0 };
	bool freed = old && call->events;

	tpc_paused_free_note_moved(old, freed && request.size, block);
	if (block && (freed || tpc_load(&tpc_state.mode) != TPC_MODE_PAUSED))
		tpc_record_block(call->thread, frame, block, request, request.size);
	else if (!block && freed && request.size)
		tpc_record_cancel(call->thread, old);
	tpc_leave(call->thread);
}

/* ---- pools ---- */

/*
 * What the function itself allocates is recorded as for any other; the last of it is what the pool hands out next. A longjmp
 * may have left an outer call.
 */
static bool pool_begins(struct call *call, const uintptr_t *frame)
{
	if (pool_frame > (uintptr_t)frame)
		return false;
	pool_frame = (uintptr_t)frame;
	call->thread = tpc_self;
	call->events = tpc_self ? tpc_self->events : 0;
	call->block = tpc_self ? tpc_self->last_block : 0;
	return true;
}

static void pool_ends(const struct tpc_alloc_rule *rule, const struct call *call, const uintptr_t *frame)
{
	const struct tpc_thread *thread = tpc_self;

	pool_frame = 0;
	if (thread && thread->last_block && (thread != call->thread || thread->last_block != call->block))
		tpc_pool_reset(frame, (const void *)thread->last_block); /* a pool, empty so far */
	if (rule->kind != TPC_RULE_GROW)
		tpc_pool_alloc(frame, (const void *)argument(frame, rule->pool), result_of(rule, frame),
			       size_of(rule, frame));
}

static bool pool_call_begins(const struct tpc_alloc_rule *rule, struct call *call, const uintptr_t *frame)
{
	const void *block = (const void *)argument(frame, rule->block);

	if (rule->kind == TPC_RULE_FREE || (rule->kind == TPC_RULE_REALLOC && block))
		tpc_pool_free(frame, block);
	else if (rule->kind == TPC_RULE_RESET)
		tpc_pool_reset(frame, (const void *)argument(frame, rule->pool));
	return rule->kind != TPC_RULE_FREE && rule->kind != TPC_RULE_RESET && pool_begins(call, frame);
}

/* ---- any ---- */

static bool begins(const struct tpc_ruled_function *function, struct call *call, const uintptr_t *frame)
{
	const struct tpc_alloc_rule *rule = &function->rule;
	void *block = (void *)argument(frame, rule->block);

	if (tpc_load(&function->home->off))
		return false;
	if (tpc_alloc_rule_allocator(rule->allocator)->is_pool)
		return pool_call_begins(rule, call, frame);
	if (rule->kind == TPC_RULE_FREE)
		return free_begins(call, frame, block);
	return rule->kind == TPC_RULE_REALLOC ? realloc_begins(call, frame, block) : alloc_begins(call, frame);
}

struct tpc_ruled_begun tpc_ruled_begin(uint32_t index, const uintptr_t *frame)
{
	const struct tpc_ruled_function *function = &tpc_ruled_functions[index];

	return (struct tpc_ruled_begun){ function->moved, begins(function, call_of(frame), frame) };
}

void tpc_ruled_end(uint32_t index, const uintptr_t *frame)
{
	const struct tpc_alloc_rule *rule = &tpc_ruled_functions[index].rule;
	const struct call *call = call_of(frame);

	if (tpc_alloc_rule_allocator(rule->allocator)->is_pool)
		pool_ends(rule, call, frame);
	else if (rule->kind == TPC_RULE_FREE)
		tpc_leave(call->thread);
	else if (rule->kind == TPC_RULE_REALLOC)
		realloc_ends(rule, call, frame);
	else
		alloc_ends(rule, call, frame);
}
