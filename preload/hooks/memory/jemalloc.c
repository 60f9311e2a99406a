/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jemalloc's own API (jemalloc(3), "Non-standard API"). Hooked through slots if jemalloc is present: programs test for
 * it by a weak mallocx, so libtprof.so must not define one. Each hook checks the gate first, and has no frame until it
 * is open, like those of malloc.c.
 */
#include "hooks/memory/jemalloc.h"

#include "core/state.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/memory/record.h"
#include "hooks/link/slots.h"

#define FRAME __builtin_frame_address(0)

/* MALLOCX_LG_ALIGN: the low six bits of the flags. */
static struct tpc_request request_of(size_t size, int flags, uint8_t fn)
{
	return (struct tpc_request){ size, fn, (uint8_t)(flags & 63) };
}

static TPC_APART void *open_mallocx(size_t size, int flags)
{
	struct tpc_thread *thread = tpc_enter(FRAME);
	void *block = tpc_real.mallocx(size, flags);

	if (!thread) {
		tpc_unrecorded(block != NULL);
		return block;
	}
	if (block)
		tpc_record_alloc(thread, FRAME, block, request_of(size, flags, TPROF_FN_MALLOCX));
	tpc_leave(thread);
	return block;
}

static void *hook_mallocx(size_t size, int flags)
{
	if (tpc_unlikely(tpc_gate()))
		return tpc_real.mallocx(size, flags);
	return open_mallocx(size, flags);
}

/* In a pause, and the block was not recorded, or its free was. */
TPC_HOT bool passes(const void *block)
{
	uint32_t gate = tpc_gate();

	return tpc_unlikely(gate) && tpc_paused_free_passes(gate, block);
}

static TPC_APART void *open_rallocx(void *old, size_t size, int flags)
{
	struct tpc_thread *thread = tpc_enter_end_of(FRAME, old);
	void *block;
	bool freed;

	if (!thread) {
		block = tpc_real.rallocx(old, size, flags);
		tpc_unrecorded(block ? 2 : 0);
		return block;
	}
	freed = tpc_record_free(thread, old, TPROF_FN_RALLOCX);
	tpc_paused_free_note_moving(old, freed);
	block = tpc_real.rallocx(old, size, flags);
	tpc_paused_free_note_moved(old, freed, block);
	tpc_record_moved(thread, FRAME, old, freed, block, request_of(size, flags, TPROF_FN_RALLOCX));
	tpc_leave(thread);
	return block;
}

static void *hook_rallocx(void *old, size_t size, int flags)
{
	return passes(old) ? tpc_real.rallocx(old, size, flags) : open_rallocx(old, size, flags);
}

/* Resizes in place or not at all; the block stays the caller's throughout. */
static TPC_APART size_t open_xallocx(void *block, size_t size, size_t extra, int flags)
{
	struct tpc_thread *thread = tpc_enter_end_of(FRAME, block);
	size_t usable;
	bool freed;

	if (!thread) {
		usable = tpc_real.xallocx(block, size, extra, flags);
		tpc_unrecorded(usable >= size ? 2 : 0);
		return usable;
	}
	freed = tpc_record_free(thread, block, TPROF_FN_XALLOCX);
	usable = tpc_real.xallocx(block, size, extra, flags);
	if (usable >= size && (freed || tpc_load(&tpc_state.mode) != TPC_MODE_PAUSED))
		tpc_record_alloc(thread, FRAME, block, request_of(size, flags, TPROF_FN_XALLOCX));
	else if (freed)
		tpc_record_cancel(thread, block);
	tpc_leave(thread);
	return usable;
}

static size_t hook_xallocx(void *block, size_t size, size_t extra, int flags)
{
	return passes(block) ? tpc_real.xallocx(block, size, extra, flags) : open_xallocx(block, size, extra, flags);
}

/* Before the real call. */
static void record_end(struct tpc_thread *thread, void *block, uint8_t fn)
{
	tpc_record_free(thread, block, fn);
	if (tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED)
		tpc_paused_free_note(block);
}

static TPC_APART void open_dallocx(void *block, int flags)
{
	struct tpc_thread *thread = tpc_enter_end_of(FRAME, block);

	if (thread)
		record_end(thread, block, TPROF_FN_DALLOCX);
	tpc_real.dallocx(block, flags);
	if (thread)
		tpc_leave(thread);
	else
		tpc_unrecorded(1);
}

static void hook_dallocx(void *block, int flags)
{
	if (passes(block))
		tpc_real.dallocx(block, flags);
	else
		open_dallocx(block, flags);
}

static TPC_APART void open_sdallocx(void *block, size_t size, int flags)
{
	struct tpc_thread *thread = tpc_enter_end_of(FRAME, block);

	if (thread)
		record_end(thread, block, TPROF_FN_SDALLOCX);
	tpc_real.sdallocx(block, size, flags);
	if (thread)
		tpc_leave(thread);
	else
		tpc_unrecorded(1);
}

static void hook_sdallocx(void *block, size_t size, int flags)
{
	if (passes(block))
		tpc_real.sdallocx(block, size, flags);
	else
		open_sdallocx(block, size, flags);
}

static void *choose(const struct tpc_slot *slot, void *context)
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
	for (size_t i = 0; i < TPC_LENGTH(hooks); i++) {
		if (strcmp(slot->symbol, hooks[i].name) == 0)
			return hooks[i].hook;
	}
	return NULL;
}

void tpc_jemalloc_hook(void)
{
	static const struct tpc_slot_visitor visitor = { .choose = choose };
	size_t slots;

	if (!tpc_header || !tpc_real.mallocx || !tpc_real.rallocx || !tpc_real.xallocx || !tpc_real.dallocx ||
	    !tpc_real.sdallocx)
		return;
	slots = tpc_slots_visit(&visitor, NULL);
	tpc_add(&tpc_header->slots, slots);
}
