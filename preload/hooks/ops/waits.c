/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/waits.h"

#include "core/clock.h"
#include "core/job.h"
#include "hooks/gate/enter.h"
#include "hooks/ops/names.h"
#include "hooks/ops/stubs.h"

#include <errno.h>

#define LEAST_NS 1000000
#define MARK UINT64_C(0x7770a3c159e2d48b) /* with the frame's address: no other call has left that there */

struct space { /* TPC_OP_SPACE */
	uint64_t mark, begin;
};

static struct space *space_of(const uintptr_t *frame)
{
	return TPC_OP_SPACE((uintptr_t *)(uintptr_t)frame);
}

static uint64_t mark_of(const uintptr_t *frame)
{
	return MARK ^ (uintptr_t)frame;
}

bool tpc_waits_are_timed(void)
{
	static int8_t timed; /* 0: not known yet; one thread at a time installs hooks */

	if (!timed)
		timed = tpc_ops_wanted() && tpc_job_has_rank() ? 1 : -1;
	return timed > 0;
}

void tpc_waits_choose(const char *symbol, struct tpc_op_choice *choice)
{
	struct tpc_text name;

	*choice =
		(struct tpc_op_choice){ .category = "wait", .signature = { .stack_known = true, .op = tpc_waits_op } };
	name = tpc_text_in(choice->name, sizeof(choice->name));
	tpc_text_add(&name, symbol);
}

static bool communicates(const struct tpc_thread *thread)
{
	const struct tpc_op_function *function = thread->op_depth ? thread->op_open[thread->op_depth - 1].ending : NULL;

	return function && function->signature.ended;
}

uint32_t tpc_waits_op(const uintptr_t *frame, bool may_write)
{
	(void)may_write;
	if (communicates(tpc_self))
		return TPC_OP_SILENT;
	*space_of(frame) = (struct space){ mark_of(frame), tpc_clock_before() };
	return TPC_OP_WAITS;
}

struct slow {
	struct tpc_thread *thread;
	const uintptr_t *frame;
	uint64_t ticks, took;
};

static void record(void *context)
{
	const struct slow *slow = context;
	struct tpc_op_function *function = tpc_op_at(TPC_OP_CALLED(slow->frame));

	if (!function || function->signature.op != tpc_waits_op)
		return;
	if (!tpc_load(&function->op))
		tpc_store(&function->op, tpc_op_number(function->name, function->category, TPROF_OP_FUNCTION));
	tpc_emit_waited(slow->thread, slow->ticks, tpc_load(&function->op), slow->took,
			tpc_caller_stack(slow->thread, slow->frame));
}

void tpc_waits_ended(struct tpc_thread *thread, const uintptr_t *frame, uint64_t ticks)
{
	struct space *space = space_of(frame);
	uint64_t begin = space->begin;
	int error = errno;

	if (space->mark != mark_of(frame))
		return;
	space->mark = 0;
	if (ticks > begin && ticks - begin >= tpc_clock_ticks(LEAST_NS))
		tpc_with_vectors_kept(record, &(struct slow){ thread, frame, ticks, ticks - begin });
	errno = error;
}
