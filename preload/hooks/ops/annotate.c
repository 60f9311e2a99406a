/* SPDX-License-Identifier: Apache-2.0 */
/* What include/tprof.h calls, handed out as one table of functions. */
#include <tprof.h>

#include "core/tables.h"
#include "hooks/enter.h"
#include "hooks/ops/names.h"

#define FRAME __builtin_frame_address(0)

/* One event of the calling thread, by its emitter. */
#define RECORD(emit)                                                                                                   \
	do {                                                                                                           \
		struct tp_thread *thread = tp_enter(FRAME);                                                            \
		uint64_t ticks;                                                                                        \
                                                                                                                       \
		if (!thread)                                                                                           \
			return;                                                                                        \
		ticks = tp_clock_before();                                                                             \
		tp_record(thread, ticks);                                                                              \
		emit;                                                                                                  \
		tp_recorded(thread);                                                                                   \
		tp_leave(thread);                                                                                      \
	} while (0)

/*
 * Ops that began while recording was paused, innermost last: their ends are not recorded either. The end of one that began
 * before the pause is.
 */
static TP_TLS uint32_t skipped;

static void put_op(struct tp_thread *thread, const char *name, const char *category)
{
	uint64_t ticks = tp_clock_before();

	tp_record(thread, ticks);
	tp_emit_op(thread, ticks, tp_op_number(name ? name : "?", category, TPROF_OP_ANNOTATION));
	tp_recorded(thread);
	tp_leave(thread);
}

static void op_begin(const char *name, const char *category)
{
	struct tp_thread *thread = skipped ? NULL : tp_enter(FRAME);

	if (thread)
		put_op(thread, name, category);
	else if (skipped || tp_load(&tp_state.mode) == TP_MODE_PAUSED)
		skipped++;
}

static void op_end(void)
{
	struct tp_thread *thread;
	uint64_t ticks;

	if (tp_unlikely(skipped)) {
		skipped--;
		return;
	}
	thread = tp_enter(FRAME);
	if (tp_unlikely(!thread)) {
		thread = tp_self;
		if (tp_load(&tp_state.mode) != TP_MODE_PAUSED || !thread || thread->busy)
			return;
	}
	ticks = tp_clock_before();
	tp_record(thread, ticks);
	tp_emit_op_end(thread, ticks, false);
	tp_recorded(thread);
	tp_leave(thread);
}

static void op_detail(const char *shape, uint64_t flop, uint64_t bytes)
{
	RECORD(tp_emit_detail(thread, ticks, shape ? shape : "", flop, bytes));
}

static void step(uint64_t items)
{
	RECORD(tp_emit_step(thread, ticks, items));
}

static void mark(const char *text)
{
	RECORD(tp_emit_mark(thread, ticks, text ? text : ""));
}

static void thread_name(const char *name)
{
	RECORD((void)ticks; tp_emit_name(thread, name ? name : "", strnlen(name ? name : "", TP_TEXT_MAX)));
}

static void value(const char *name, uint64_t value)
{
	RECORD((void)ticks; tp_table_value(value, name ? name : "", strnlen(name ? name : "", 255)));
}

extern const struct tprof_api tprof_api_1;

TP_EXPORT const struct tprof_api tprof_api_1 = {
	.size = sizeof(struct tprof_api),
	.op_begin = op_begin,
	.op_end = op_end,
	.op_detail = op_detail,
	.step = step,
	.mark = mark,
	.thread_name = thread_name,
	.value = value,
};
