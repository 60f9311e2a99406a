/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/presets.h"

#include "hooks/gate/enter.h"
#include "hooks/ops/entry.h"
#include "hooks/ops/unwound.h"

static uint32_t number_of(uintptr_t function, bool may_write)
{
	return may_write ? tpc_entry_number(function, TPC_ENTRY_OPENMP) : tpc_entry_known(function, TPC_ENTRY_OPENMP);
}

/* GOMP_parallel(fn, data, threads, flags) and similar functions. */
static uint32_t gomp_op(const uintptr_t *frame, bool may_write)
{
	return number_of(tpc_argument(frame, 0), may_write);
}

/* __kmpc_fork_call(location, arguments, fn, ...). */
static uint32_t kmpc_op(const uintptr_t *frame, bool may_write)
{
	return number_of(tpc_argument(frame, 2), may_write);
}

/* ---- each thread's part ---- */

struct region {
	void (*function)(void *);
	void *data;
};

#define NOT_RECORDED UINT32_MAX

/* How many hooked calls it is in, or NOT_RECORDED. */
static uint32_t begin_part(const void *frame, uintptr_t function)
{
	struct tpc_thread *thread = tpc_enter(frame);
	uint32_t op, hooked;
	uint64_t ticks;

	if (!thread)
		return NOT_RECORDED;
	ticks = tpc_clock_before();
	tpc_record(thread, ticks);
	tpc_ops_end_left(thread, frame, ticks);
	hooked = thread->op_depth;
	op = tpc_entry_known(function, TPC_ENTRY_OPENMP_PART);
	if (tpc_unlikely(!op))
		op = tpc_entry_number(function, TPC_ENTRY_OPENMP_PART);
	if (op)
		tpc_emit_op(thread, ticks, op);
	tpc_recorded(thread);
	tpc_leave(thread);
	return op ? hooked : NOT_RECORDED;
}

static void end_part(const void *frame, uint32_t hooked)
{
	struct tpc_thread *thread = tpc_enter_end(frame);
	uint64_t ticks;

	if (!thread)
		return;
	ticks = tpc_clock_before();
	tpc_record(thread, ticks);
	tpc_ops_end_within(thread, hooked, ticks);
	tpc_emit_op_end(thread, ticks, false);
	tpc_recorded(thread);
	tpc_leave(thread);
}

/* Called by libgomp in each thread. The region outlives the call: it is in the frame of the thread that waits for all. */
static void run_part(void *context)
{
	struct region region = *(struct region *)context;
	uint32_t hooked = begin_part(__builtin_frame_address(0), (uintptr_t)region.function);

	region.function(region.data);
	if (hooked != NOT_RECORDED)
		end_part(__builtin_frame_address(0), hooked);
}

static void gomp_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	struct region *region = TPC_OP_SPACE(frame);

	(void)signature;
	region->function = (void (*)(void *))tpc_argument(frame, 0);
	region->data = (void *)tpc_argument(frame, 1);
	frame[tpc_argument_offset(0)] = (uintptr_t)run_part;
	frame[tpc_argument_offset(1)] = (uintptr_t)region;
}

bool tpc_openmp_choose(const char *symbol, struct tpc_text *to, struct tpc_signature *signature)
{
	bool gomp = strncmp(symbol, "GOMP_parallel", 13) == 0 || strcmp(symbol, "GOMP_teams_reg") == 0;

	if (strcmp(symbol, "GOMP_parallel_end") == 0 || strcmp(symbol, "GOMP_parallel_start") == 0 ||
	    (gomp && strstr(symbol, "_start")))
		return false; /* from before GCC 4.9: they return at once */
	if (!gomp && strncmp(symbol, "__kmpc_fork_call", 16) != 0 && strcmp(symbol, "__kmpc_fork_teams") != 0)
		return false;
	signature->op = gomp ? gomp_op : kmpc_op;
	/* With reductions of tasks libgomp itself reads the data. */
	if (gomp && strncmp(symbol, "GOMP_parallel", 13) == 0 && !strstr(symbol, "reductions"))
		signature->begun = gomp_begun;
	tpc_text_add(to, symbol);
	return true;
}
