/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/control.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/memory_sample.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/gate/start.h"

bool tpc_control_pause(struct tpc_thread *thread)
{
	uint64_t ticks = tpc_clock_before();

	if (!tpc_switch(false, tpc_lifecycle.pausing))
		return false;
	tpc_emit_plain(thread, ticks, TPROF_EVENT_PAUSE);
	return true;
}

/* Writes RESUME first: once the mode has changed, events of other threads follow. */
bool tpc_control_resume(struct tpc_thread *thread)
{
	if (tpc_load(&tpc_state.mode) != TPC_MODE_PAUSED && tpc_load(&tpc_state.mode) != TPC_MODE_WAITING)
		return false;
	tpc_emit_plain(thread, tpc_clock_before(), TPROF_EVENT_RESUME);
	return tpc_switch(true, NULL);
}

static void mark(struct tpc_thread *thread, const char *text)
{
	tpc_emit_mark(thread, tpc_clock_before(), text);
}

static void snapshot(struct tpc_thread *thread, const char *text)
{
	tpc_sample_memory(thread);
	mark(thread, text);
}

/* Every process that has the file can write to the header: nothing in it is trusted. */
static void copy_text(char *to, size_t size)
{
	uint32_t length = tpc_load(&tpc_header->control_text_length);

	if (length > TPROF_CONTROL_TEXT)
		length = TPROF_CONTROL_TEXT;
	if (length >= size)
		length = (uint32_t)size - 1;
	memcpy(to, tpc_header->control_text, length);
	to[length] = 0;
}

void tpc_control_answer(struct tpc_thread *thread, const struct tpc_hand *hand)
{
	uint32_t asked =
		tpc_load_acquire(&tpc_header->control_asked); /* pairs with the requester: the request is complete */
	uint32_t taken = tpc_load(&tpc_header->control_taken);
	char text[TPROF_CONTROL_TEXT + 1];

	if (asked == taken || !tpc_swap_if(&tpc_header->control_taken, taken, asked))
		return;
	copy_text(text, sizeof(text));
	switch (tpc_load(&tpc_header->control_what)) {
	case TPROF_CONTROL_START:
		tpc_control_resume(thread);
		break;
	case TPROF_CONTROL_STOP:
		tpc_control_pause(thread);
		break;
	case TPROF_CONTROL_MARK:
		mark(thread, text);
		break;
	case TPROF_CONTROL_SNAPSHOT:
		snapshot(thread, text);
		break;
	case TPROF_CONTROL_LEAKCHECK:
		tpc_leak_snapshot(hand);
		break;
	default:
		break;
	}
	if (tpc_load(&tpc_state.mode) != TPC_MODE_ON)
		tpc_gate_set();
	tpc_store_release(&tpc_header->control_done, asked); /* pairs with the requester */
}
