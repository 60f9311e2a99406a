/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jemalloc's own API (jemalloc(3), "Non-standard API"). Hooked through slots, where jemalloc is there: a program asks by
 * a weak mallocx whether it is, so libtprof.so must not define one. Each looks at the gate before all else, and has no frame
 * until it is open, as malloc.c's have.
 */
#include "hooks/memory/jemalloc.h"

#include "core/state.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/memory/record.h"
#include "hooks/link/slots.h"

#define FRAME __builtin_frame_address(0)

/* MALLOCX_LG_ALIGN: the low six bits of the flags. */
static struct tp_request request_of(size_t size, int flags, uint8_t fn)
{
	return (struct tp_request){ size, fn, (uint8_t)(flags & 63) };
}

static TP_APART void *open_mallocx(size_t size, int flags)
{
	struct tp_thread *thread = tp_enter(FRAME);
	void *block = tp_real.mallocx(size, flags);

	if (!thread) {
		tp_unrecorded(block != NULL);
		return block;
	}
	if (block)
		tp_record_alloc(thread, FRAME, block, request_of(size, flags, TPROF_FN_MALLOCX));
	tp_leave(thread);
	return block;
}

static void *hook_mallocx(size_t size, int flags)
{
	if (tp_unlikely(tp_gate()))
		return tp_real.mallocx(size, flags);
	return open_mallocx(size, flags);
}

/* In a pause, of a block that was not recorded, or whose end was. */
TP_HOT bool passes(const void *block)
{
	uint32_t gate = tp_gate();

	return tp_unlikely(gate) && tp_paused_free_passes(gate, block);
}

static TP_APART void *open_rallocx(void *old, size_t size, int flags)
{
	struct tp_thread *thread = tp_enter_end_of(FRAME, old);
	void *block;
	bool freed;

	if (!thread) {
		block = tp_real.rallocx(old, size, flags);
		tp_unrecorded(block ? 2 : 0);
		return block;
	}
	freed = tp_record_free(thread, old, TPROF_FN_RALLOCX);
	tp_paused_free_note_moving(old, freed);
	block = tp_real.rallocx(old, size, flags);
	tp_paused_free_note_moved(old, freed, block);
	tp_record_moved(thread, FRAME, old, freed, block, request_of(size, flags, TPROF_FN_RALLOCX));
	tp_leave(thread);
	return block;
}

static void *hook_rallocx(void *old, size_t size, int flags)
{
	return passes(old) ? tp_real.rallocx(old, size, flags) : open_rallocx(old, size, flags);
}

/* Resizes in place, or does not; the block stays the caller's throughout. */
static TP_APART size_t open_xallocx(void *block, size_t size, size_t extra, int flags)
{
	struct tp_thread *thread = tp_enter_end_of(FRAME, block);
	size_t usable;
	bool freed;

	if (!thread) {
		usable = tp_real.xallocx(block, size, extra, flags);
		tp_unrecorded(usable >= size ? 2 : 0);
		return usable;
	}
	freed = tp_record_free(thread, block, TPROF_FN_XALLOCX);
	usable = tp_real.xallocx(block, size, extra, flags);
	if (usable >= size && (freed || tp_load(&tp_state.mode) != TP_MODE_PAUSED))
		tp_record_alloc(thread, FRAME, block, request_of(size, flags, TPROF_FN_XALLOCX));
	else if (freed)
		tp_record_cancel(thread, block);
	tp_leave(thread);
	return usable;
}

static size_t hook_xallocx(void *block, size_t size, size_t extra, int flags)
{
	return passes(block) ? tp_real.xallocx(block, size, extra, flags) : open_xallocx(block, size, extra, flags);
}

/* Before the real call. */
static void record_end(struct tp_thread *thread, void *block, uint8_t fn)
{
	tp_record_free(thread, block, fn);
	if (tp_load(&tp_state.mode) == TP_MODE_PAUSED)
		tp_paused_free_note(block);
}

static TP_APART void open_dallocx(void *block, int flags)
{
	struct tp_thread *thread = tp_enter_end_of(FRAME, block);

	if (thread)
		record_end(thread, block, TPROF_FN_DALLOCX);
	tp_real.dallocx(block, flags);
	if (thread)
		tp_leave(thread);
	else
		tp_unrecorded(1);
}

static void hook_dallocx(void *block, int flags)
{
	if (passes(block))
		tp_real.dallocx(block, flags);
	else
		open_dallocx(block, flags);
}

static TP_APART void open_sdallocx(void *block, size_t size, int flags)
{
	struct tp_thread *thread = tp_enter_end_of(FRAME, block);

	if (thread)
		record_end(thread, block, TPROF_FN_SDALLOCX);
	tp_real.sdallocx(block, size, flags);
	if (thread)
		tp_leave(thread);
	else
		tp_unrecorded(1);
}

static void hook_sdallocx(void *block, size_t size, int flags)
{
	if (passes(block))
		tp_real.sdallocx(block, size, flags);
	else
		open_sdallocx(block, size, flags);
}

static void *choose(const struct tp_slot *slot, void *context)
{
	static const struct {
		const char *name;
		void *hook;
	} hooks[] = {
		{ "mallocx", (void *)hook_mallocx },   { "rallocx", (void *)hook_rallocx },
		{ "xallocx", (void *)hook_xallocx },   { "dallocx", (void *)hook_dallocx },
		{ "sdallocx", (void *)hook_sdallocx },
	};

	(void)context;
	for (size_t i = 0; i < TP_LENGTH(hooks); i++) {
		if (strcmp(slot->symbol, hooks[i].name) == 0)
			return hooks[i].hook;
	}
	return NULL;
}

void tp_jemalloc_hook(void)
{
	static const struct tp_slot_visitor visitor = { .choose = choose };
	size_t slots;

	if (!tp_header || !tp_real.mallocx || !tp_real.rallocx || !tp_real.xallocx || !tp_real.dallocx ||
	    !tp_real.sdallocx)
		return;
	slots = tp_slots_visit(&visitor, NULL);
	tp_add(&tp_header->slots, slots);
}
