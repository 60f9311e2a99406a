/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/control.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/memory_sample.h"
#include "hooks/gate/enter.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/gate/start.h"

bool tp_control_pause(struct tp_thread *thread)
{
	uint64_t ticks = tp_clock_before();

	if (!tp_switch(false, tp_lifecycle.pausing))
		return false;
	tp_emit_plain(thread, ticks, TPROF_EVENT_PAUSE);
	return true;
}

/* RESUME first: once the mode says so, other threads' events come. */
bool tp_control_resume(struct tp_thread *thread)
{
	if (tp_load(&tp_state.mode) != TP_MODE_PAUSED && tp_load(&tp_state.mode) != TP_MODE_WAITING)
		return false;
	tp_emit_plain(thread, tp_clock_before(), TPROF_EVENT_RESUME);
	return tp_switch(true, NULL);
}

static void mark(struct tp_thread *thread, const char *text)
{
	tp_emit_mark(thread, tp_clock_before(), text);
}

static void snapshot(struct tp_thread *thread, const char *text)
{
	tp_sample_memory(thread);
	mark(thread, text);
}

/* The header is shared with whoever has the file: nothing in it is believed. */
static void copy_text(char *to, size_t size)
{
	uint32_t length = tp_load(&tp_header->control_text_length);

	if (length > TPROF_CONTROL_TEXT)
		length = TPROF_CONTROL_TEXT;
	if (length >= size)
		length = (uint32_t)size - 1;
	memcpy(to, tp_header->control_text, length);
	to[length] = 0;
}

void tp_control_answer(struct tp_thread *thread, const struct tp_hand *hand)
{
	uint32_t asked = tp_load_acquire(&tp_header->control_asked); /* pairs with who asks: the request is whole */
	uint32_t taken = tp_load(&tp_header->control_taken);
	char text[TPROF_CONTROL_TEXT + 1];

	if (asked == taken || !tp_swap_if(&tp_header->control_taken, taken, asked))
		return;
	copy_text(text, sizeof(text));
	switch (tp_load(&tp_header->control_what)) {
	case TPROF_CONTROL_START:
		tp_control_resume(thread);
		break;
	case TPROF_CONTROL_STOP:
		tp_control_pause(thread);
		break;
	case TPROF_CONTROL_MARK:
		mark(thread, text);
		break;
	case TPROF_CONTROL_SNAPSHOT:
		snapshot(thread, text);
		break;
	case TPROF_CONTROL_LEAKCHECK:
		tp_leak_snapshot(hand);
		break;
	default:
		break;
	}
	if (tp_load(&tp_state.mode) != TP_MODE_ON)
		tp_gate_set();
	tp_store_release(&tp_header->control_done, asked); /* pairs with who asked */
}
