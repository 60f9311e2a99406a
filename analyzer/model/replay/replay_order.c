/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs the order of allocations and frees of one block by different threads. */
#include "model/replay/replay_impl.h"

static void remember(struct tpa_stray *strays, unsigned *next, const struct tpa_event *event, uint32_t thread)
{
	strays[*next % TPA_STRAYS] = (struct tpa_stray){ event->block.address, event->time, thread };
	++*next;
}

void tpa_order_closed(struct tpa_replay *replay, const struct tpa_event *event)
{
	remember(replay->order.late, &replay->order.late_next, event, event->thread);
	if (replay->order.late_count < TPA_STRAYS)
		replay->order.late_count++;
}

/*
 * Whether a free belongs to a block that was ended already: it comes soon after, and not from the thread whose allocation took
 * the address, since the events of one thread are in order.
 */
bool tpa_order_was_closed(struct tpa_replay *replay, const struct tpa_event *event)
{
	bool waiting = false, found = false;
	unsigned i;

	for (i = 0; i < replay->order.late_count; i++) {
		struct tpa_stray *stray = &replay->order.late[(replay->order.late_next - 1 - i) % TPA_STRAYS];

		if (event->time - stray->time > replay->order.stray_time)
			break;
		waiting = true;
		if (!found && stray->address == event->block.address && stray->thread != event->thread) {
			found = true;
			stray->address = TPA_NO_ADDRESS;
		}
	}
	if (!waiting)
		replay->order.late_count = 0;
	if (found && replay->inside) {
		replay->heap.counts.reordered++;
		replay->heap.counts.implied_frees -= replay->heap.counts.implied_frees != 0;
	}
	return found;
}

/*
 * Whether another thread freed the address a moment ago. Then one of the two frees is the early one, possibly that earlier one,
 * which took the block before: the thread that allocates the address first decides.
 */
static bool freed_before(const struct tpa_replay *replay, const struct tpa_event *event)
{
	for (size_t i = 0; i < replay->threads.count; i++) {
		const struct tpa_thread_state *thread = &replay->threads.list[i];

		if (thread->undo.what == TPA_UNDO_FREE && thread->undo.block.address == event->block.address &&
		    event->time - thread->last <= replay->order.early_time && thread->stats.thread != event->thread)
			return true;
	}
	return false;
}

void tpa_order_unmatched(struct tpa_replay *replay, const struct tpa_event *event)
{
	remember(replay->order.early, &replay->order.early_next, event,
		 freed_before(replay, event) ? 0 : event->thread);
}

/*
 * Whether an allocation's own free stands before it, from another thread and at most a moment earlier. Not in a forked process,
 * where such a free is that of an inherited block.
 */
bool tpa_order_is_freed_already(struct tpa_replay *replay, const struct tpa_event *event)
{
	unsigned i;

	if (replay->trace->header->origin == TPROF_ORIGIN_FORK)
		return false;
	for (i = 1; i <= TPA_STRAYS && i <= replay->order.early_next; i++) {
		struct tpa_stray *stray = &replay->order.early[(replay->order.early_next - i) % TPA_STRAYS];

		if (event->time - stray->time > replay->order.early_time)
			break;
		if (stray->address == event->block.address && stray->thread != event->thread) {
			stray->address = TPA_NO_ADDRESS;
			return true;
		}
	}
	return false;
}

/*
 * A free is stamped before the real call and an allocation after it, so an address is free in the trace before it is
 * allocated again, unless the two stamps are equal or the cores' clocks differ a little: this much is repaired.
 */
#define STRAY_NS 100000

/*
 * A processor reads the counter for a free while it still waits for the block itself to come from the core of the thread that
 * allocated it (no rdtsc waits for the loads before it): the free's stamp can precede the allocation's by what a contended
 * cache line takes. 3 to 74 ns were seen, and 2.4 and 2.8 us where a busy machine's processors were virtual.
 */
#define EARLY_NS 10000

static void init(struct tpa_replay *replay)
{
	replay->order.stray_time = tpa_trace_about(replay->trace, STRAY_NS);
	replay->order.early_time = tpa_trace_about(replay->trace, EARLY_NS);
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	struct tpa_part_order *order = &replay->order;

	TPA_ARCHIVE(to, order->early);
	TPA_ARCHIVE(to, order->late);
	TPA_ARCHIVE(to, order->early_next);
	TPA_ARCHIVE(to, order->late_next);
	TPA_ARCHIVE(to, order->late_count);
	tpa_archive_check(to, order->late_count <= TPA_STRAYS, "the order of events is out of range");
}

const struct tpa_part tpa_part_order = { .init = init, .archive = archive };
