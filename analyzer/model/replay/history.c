/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/replay/replay.h"
#include "model/stats/stats.h"

#define CHANGED 4u /* its bit of tpa_sites.changed */

/* What was counted at the last look. */
struct seen_site {
	int64_t live_bytes, live_blocks;
	uint64_t bytes, allocations, temporary;
};

struct seen_op {
	uint64_t calls, total, self; /* ticks */
};

struct work {
	struct tpa_replay replay;
	struct tpa_history *history;
	struct seen_site *sites;
	size_t site_count, site_room;
	uint64_t *periods; /* by index in replay.cpu.sites */
	size_t period_count, period_room;
	struct seen_op *ops;
	size_t op_count, op_room;
	struct tpa_history_thread *threads;
	size_t thread_count, thread_room;
	struct seen_site *begin; /* at the first look */
	size_t begin_count;
	size_t calls; /* most that are kept */
	bool dropped;
	uint64_t shortest; /* ticks: calls below are not kept */
};

/* ---- what the replay counts now ---- */

static uint64_t whole(double value)
{
	return tpa_round(value);
}

static struct seen_site site_now(const struct tpa_replay *replay, size_t i)
{
	const struct tpa_site_state *site = &replay->heap.sites.list[i];
	const struct tpa_estimates *estimates = &replay->heap.estimates;
	const struct tpa_estimate_state *estimate;

	if (!tpa_replay_estimated(replay) || i >= estimates->count)
		return (struct seen_site){ (int64_t)site->live.bytes, (int64_t)site->live.blocks, site->bytes,
					   site->allocations, site->temporary };
	estimate = &estimates->sites[i];
	return (struct seen_site){ (int64_t)whole(estimate->live.bytes.value),
				   (int64_t)whole(estimate->live.blocks.value), whole(estimate->allocated.bytes.value),
				   whole(estimate->allocated.blocks.value), 0 };
}

static bool same_site(const struct seen_site *a, const struct seen_site *b)
{
	return a->live_bytes == b->live_bytes && a->live_blocks == b->live_blocks && a->bytes == b->bytes &&
	       a->allocations == b->allocations;
}

/* ---- looks ---- */

static void note_site(struct work *work, size_t i, bool first)
{
	struct seen_site now = site_now(&work->replay, i), *seen = &work->sites[i];
	struct tpa_history *history = work->history;

	if (!first && !same_site(&now, seen))
		*TPA_APPEND(history->changes.list, history->changes.count, history->changes.room) =
			(struct tpa_history_change){ .site = (uint32_t)i,
						     .live_bytes = now.live_bytes - seen->live_bytes,
						     .live_blocks = now.live_blocks - seen->live_blocks,
						     .bytes = now.bytes - seen->bytes,
						     .allocations = now.allocations - seen->allocations,
						     .temporary = now.temporary - seen->temporary };
	*seen = now;
}

/* Sites that did not change since the last look are skipped, most of them many at once. */
static void look_at_sites(struct work *work, bool first)
{
	struct tpa_sites *sites = &work->replay.heap.sites;

	tpa_extend(&work->sites, &work->site_count, &work->site_room, sites->count, sizeof(*work->sites));
	for (size_t from = 0; from < sites->count; from += TPA_SITES_TOGETHER) {
		uint8_t *changed = &sites->changed[from / TPA_SITES_TOGETHER];
		size_t to = from + TPA_SITES_TOGETHER < sites->count ? from + TPA_SITES_TOGETHER : sites->count;

		if (!(*changed & CHANGED) && !first)
			continue;
		*changed &= (uint8_t)~CHANGED;
		for (size_t i = from < TPA_SITE_FIRST ? TPA_SITE_FIRST : from; i < to; i++)
			note_site(work, i, first);
	}
}

static void look_at_cpu(struct work *work, bool first)
{
	const struct tpa_cpu_counts *counts = &work->replay.cpu.sites;
	struct tpa_history *history = work->history;

	tpa_extend(&work->periods, &work->period_count, &work->period_room, counts->count, sizeof(*work->periods));
	for (size_t i = 0; i < counts->count; i++) {
		uint64_t now = counts->list[i].cpu.periods;

		if (now != work->periods[i] && !first)
			*TPA_APPEND(history->samples.list, history->samples.count, history->samples.room) =
				(struct tpa_history_sample){ (uint32_t)i, now - work->periods[i] };
		work->periods[i] = now;
	}
}

static void look_at_ops(struct work *work, bool first)
{
	const struct tpa_op_tree *tree = &work->replay.ops.calls.tree;
	struct tpa_history *history = work->history;

	tpa_extend(&work->ops, &work->op_count, &work->op_room, tree->count, sizeof(*work->ops));
	for (size_t i = 1; tree->nodes && i < tree->count; i++) {
		const struct tpa_op_node *node = &tree->nodes[i];
		struct seen_op *seen = &work->ops[i];

		if ((node->calls != seen->calls || node->self_ns != seen->self) && !first)
			*TPA_APPEND(history->ops.list, history->ops.count, history->ops.room) =
				(struct tpa_history_op){ (uint32_t)i, node->calls - seen->calls,
							 node->total_ns - seen->total, node->self_ns - seen->self };
		*seen = (struct seen_op){ node->calls, node->total_ns, node->self_ns };
	}
}

static struct tpa_history_thread thread_now(const struct work *work, size_t i)
{
	const struct tpa_thread_state *thread = &work->replay.threads.list[i];
	bool estimated = tpa_replay_estimated(&work->replay);

	return (struct tpa_history_thread){
		.thread = (uint32_t)i,
		.periods = thread->stats.cpu.periods,
		.op_ns = thread->stats.op_ns,
		.bytes = estimated ? whole(thread->bytes.value) : thread->stats.bytes,
		.allocations = estimated ? whole(thread->allocations.value) : thread->stats.allocations,
	};
}

static void look_at_threads(struct work *work, bool first)
{
	struct tpa_history *history = work->history;

	tpa_extend(&work->threads, &work->thread_count, &work->thread_room, work->replay.threads.count,
		   sizeof(*work->threads));
	for (size_t i = 0; i < work->replay.threads.count; i++) {
		struct tpa_history_thread now = thread_now(work, i), *seen = &work->threads[i];

		if (!first && (now.periods != seen->periods || now.op_ns != seen->op_ns || now.bytes != seen->bytes ||
			       now.allocations != seen->allocations))
			*TPA_APPEND(history->work.list, history->work.count, history->work.room) =
				(struct tpa_history_thread){ now.thread, now.periods - seen->periods,
							     now.op_ns - seen->op_ns, now.bytes - seen->bytes,
							     now.allocations - seen->allocations };
		*seen = now;
	}
}

static struct tpa_history_memory memory_now(const struct tpa_replay *replay)
{
	const struct tpa_memory_parts *parts = &replay->memory.parts;

	return (struct tpa_history_memory){
		.live = replay->now.live_bytes,
		.rss = replay->now.rss,
		.shared = parts->said ? parts->shared : 0,
		.own = parts->counted ? parts->own : 0,
		.stacks = parts->counted ? parts->stacks : 0,
		.mapped = parts->counted ? parts->mapped : 0,
	};
}

static void look(struct work *work, uint64_t ns)
{
	struct tpa_history *history = work->history;
	bool first = !history->look_count;
	size_t interval = history->look_count - 1;

	look_at_sites(work, first);
	look_at_cpu(work, first);
	look_at_ops(work, first);
	look_at_threads(work, first);
	history->memory[history->look_count] = memory_now(&work->replay);
	history->looks_ns[history->look_count++] = ns;
	if (first) {
		work->begin = tpa_copy(work->sites, work->site_count * sizeof(*work->sites));
		work->begin_count = work->site_count;
		return;
	}
	history->changes.ends[interval] = history->changes.count;
	history->samples.ends[interval] = history->samples.count;
	history->ops.ends[interval] = history->ops.count;
	history->work.ends[interval] = history->work.count;
}

/* ---- single calls ---- */

static int longest_first(const void *left, const void *right)
{
	const struct tpa_history_call *a = left, *b = right;

	return TPA_DOWN(a->end_ns - a->begin_ns, b->end_ns - b->begin_ns) ?: TPA_UP(a->begin_ns, b->begin_ns);
}

static int by_begin(const void *left, const void *right)
{
	const struct tpa_history_call *a = left, *b = right;

	return TPA_UP(a->begin_ns, b->begin_ns) ?: TPA_UP(a->depth, b->depth);
}

/* Drops all but the longest calls; shorter ones are not taken any more. Times are still ticks. */
static void drop_short_calls(struct work *work)
{
	struct tpa_history *history = work->history;
	const struct tpa_history_call *last = &history->calls[work->calls - 1];

	qsort(history->calls, history->call_count, sizeof(*history->calls), longest_first);
	work->shortest = last->end_ns - last->begin_ns;
	history->call_count = work->calls;
}

/* The op that an event is about to end, on its thread; false: none. */
static bool ending_call(const struct tpa_replay *replay, struct tpa_history_call *call)
{
	const struct tpa_event *event = replay->event;
	uint32_t index = event->thread < replay->threads.index_count ? replay->threads.index[event->thread] : 0;
	const struct tpa_op_stack *open = index ? &replay->threads.list[index - 1].open : NULL;
	uint64_t kept = event->op_end.kept;

	if (!open || kept < open->deeper || kept - open->deeper >= open->count)
		return false;
	*call = (struct tpa_history_call){ .thread = event->thread,
					   .depth = open->count - 1 - (uint32_t)(kept - open->deeper) };
	call->node = open->frames[call->depth].node;
	return true;
}

static void note_call(struct work *work, struct tpa_history_call *call)
{
	const struct tpa_op_call *last = &work->replay.ops.calls.last;
	struct tpa_history *history = work->history;

	if (!last->op)
		return;
	history->calls_seen++;
	if (last->end_ticks - last->begin_ticks < work->shortest)
		return;
	call->op = last->op;
	call->begin_ns = last->begin_ticks;
	call->end_ns = last->end_ticks;
	*TPA_APPEND(history->calls, history->call_count, history->call_room) = *call;
	if (history->call_count >= 2 * work->calls)
		drop_short_calls(work);
}

/* ---- the replay ---- */

/* What grows is known already: the looks for it would cost time and memory. */
static void drop_growth(struct work *work)
{
	work->dropped = true;
	tpa_growth_drop(&work->replay.growth.of_steps);
	tpa_growth_drop(&work->replay.growth.of_time);
}

static void step(struct work *work)
{
	struct tpa_replay *replay = &work->replay;
	struct tpa_history_call call;
	bool ends = replay->event->kind == TPA_EVENT_OP_END && ending_call(replay, &call);

	tpa_replay_step(replay);
	if (replay->inside && !work->dropped)
		drop_growth(work);
	if (ends)
		note_call(work, &call);
}

/* Whether the peak of the whole replay was reached by the last event. */
static bool at_peak(const struct tpa_replay *replay, const struct tpa_process *process)
{
	uint64_t ns = tpa_replay_ns(replay, replay->heap.peak_time);

	return replay->inside && ns == process->heap.peak_time_ns &&
	       replay->now.live_bytes == process->heap.peak_bytes &&
	       replay->heap.counts.peak_bytes == process->heap.peak_bytes;
}

struct span {
	uint64_t from_ns, to_ns;
	size_t looks;
};

static uint64_t ns_of_look(const struct span *span, size_t i)
{
	return span->from_ns +
	       (uint64_t)((double)(span->to_ns - span->from_ns) * (double)i / (double)(span->looks - 1));
}

static struct span span_of(const struct tpa_process *process, const struct tpa_replay_options *options, size_t looks)
{
	struct span span = { process->start_ns, process->start_ns + process->duration_ns, looks < 2 ? 2 : looks };

	if (options->from_ns > span.from_ns)
		span.from_ns = options->from_ns < span.to_ns ? options->from_ns : span.to_ns;
	if (options->to_ns && options->to_ns < span.to_ns)
		span.to_ns = options->to_ns > span.from_ns ? options->to_ns : span.from_ns;
	return span;
}

/* The event time of a look: events before it count in it. */
static uint64_t time_of(const struct tpa_replay *replay, const struct span *span, size_t i)
{
	uint64_t ns = ns_of_look(span, i) - replay->start_ns;

	return ns ? tpa_trace_time(replay->trace, ns) : 0;
}

static void replay_all(struct work *work, const struct tpa_process *process, const struct span *span)
{
	struct tpa_replay *replay = &work->replay;
	size_t next = 0;
	uint64_t due = time_of(replay, span, 0), peak_number = replay->heap.peak_number;
	bool peak_seen = false;

	while (replay->event) {
		while (next + 1 < span->looks && replay->event->time >= due) {
			look(work, ns_of_look(span, next++));
			due = time_of(replay, span, next);
		}
		step(work);
		if (peak_seen || replay->heap.peak_number == peak_number)
			continue;
		peak_number = replay->heap.peak_number;
		if (!at_peak(replay, process) || !work->history->look_count)
			continue;
		peak_seen = true;
		work->history->peak_look = work->history->look_count;
		look(work, process->heap.peak_time_ns);
	}
	for (; next < span->looks; next++)
		look(work, ns_of_look(span, next));
}

/* ---- the result ---- */

static void take_sites(struct work *work)
{
	struct tpa_replay *replay = &work->replay;
	struct tpa_history *history = work->history;
	bool estimated = tpa_replay_estimated(replay);
	struct tpa_variance unused = { 0 };

	history->site_count = replay->heap.sites.count;
	history->sites = tpa_zalloc(history->site_count + 1, sizeof(*history->sites));
	for (size_t i = TPA_SITE_FIRST; i < history->site_count; i++) {
		struct tpa_site_state *state = &replay->heap.sites.list[i];
		struct tpa_site shown;

		tpa_site_touch(state, replay->heap.peak_number);
		shown = tpa_site_shown(state);
		if (estimated && i < replay->heap.estimates.count)
			tpa_estimates_site(&replay->heap.estimates, i, replay->heap.peak_number, &shown, &unused);
		history->sites[i] = (struct tpa_history_site){
			.node = shown.node,
			.op = shown.op,
			.peak_bytes = shown.peak_bytes,
			.peak_blocks = shown.peak_blocks,
			.end_bytes = shown.live_bytes,
			.end_blocks = shown.live_blocks,
			.bytes = shown.bytes,
			.allocations = shown.allocations,
			.temporary = shown.temporary,
		};
		if (i < work->begin_count) {
			history->sites[i].begin_bytes = work->begin[i].live_bytes;
			history->sites[i].begin_blocks = work->begin[i].live_blocks;
		}
	}
}

/* Running sums are rounded, so that the intervals of a node add up to what the result has for it. */
static void scale_ops(struct work *work, const struct tpa_process *process)
{
	struct tpa_history *history = work->history;
	struct seen_op *sums = tpa_zalloc(work->op_count + 1, sizeof(*sums));

	for (size_t i = 0; i < history->ops.count; i++) {
		struct tpa_history_op *op = &history->ops.list[i];
		const struct seen_op *all = &work->ops[op->node];
		const struct tpa_op_node *node = &process->op_nodes[op->node];
		struct seen_op *sum = &sums[op->node], next = { 0, sum->total + op->total_ns, sum->self + op->self_ns };
		double total = all->total ? (double)node->total_ns / (double)all->total : 0;
		double self = all->self ? (double)node->self_ns / (double)all->self : 0;

		op->total_ns = whole((double)next.total * total) - whole((double)sum->total * total);
		op->self_ns = whole((double)next.self * self) - whole((double)sum->self * self);
		*sum = next;
	}
	free(sums);
}

static void finish_calls(struct work *work)
{
	struct tpa_history *history = work->history;

	if (history->call_count > work->calls)
		drop_short_calls(work);
	for (size_t i = 0; i < history->call_count; i++) {
		history->calls[i].begin_ns = tpa_replay_ticks_ns(&work->replay, history->calls[i].begin_ns);
		history->calls[i].end_ns = tpa_replay_ticks_ns(&work->replay, history->calls[i].end_ns);
	}
	if (history->call_count)
		qsort(history->calls, history->call_count, sizeof(*history->calls), by_begin);
	history->shortest_ns = (uint64_t)((double)work->shortest * tpa_trace_tick_ns(work->replay.trace));
}

static void finish(struct work *work, const struct tpa_process *process)
{
	struct tpa_history *history = work->history;
	double own = work->replay.ops.calls.outermost_tick_ns;
	double tick_ns = own > 0 ? own : tpa_trace_tick_ns(work->replay.trace);

	take_sites(work);
	scale_ops(work, process);
	finish_calls(work);
	for (size_t i = 0; i < history->work.count; i++) {
		struct tpa_history_thread *of = &history->work.list[i];

		of->op_ns = whole((double)of->op_ns * tick_ns);
		of->thread = work->replay.threads.list[of->thread].stats.thread;
	}
	history->cpu_count = work->replay.cpu.sites.count;
	history->cpu = tpa_copy(work->replay.cpu.sites.list, history->cpu_count * sizeof(*history->cpu));
}

struct tpa_history *tpa_history_make(struct tpa_trace *trace, const struct tpa_process *process,
				     const struct tpa_replay_options *options, const struct tpa_history_limits *limits)
{
	struct span span = span_of(process, options, limits->looks);
	struct tpa_history *history = tpa_zalloc(1, sizeof(*history));
	struct work work = { .history = history, .calls = limits->calls };

	history->looks_ns = tpa_zalloc(span.looks + 1, sizeof(*history->looks_ns));
	history->memory = tpa_zalloc(span.looks + 1, sizeof(*history->memory));
	history->changes.ends = tpa_zalloc(span.looks + 1, sizeof(size_t));
	history->samples.ends = tpa_zalloc(span.looks + 1, sizeof(size_t));
	history->ops.ends = tpa_zalloc(span.looks + 1, sizeof(size_t));
	history->work.ends = tpa_zalloc(span.looks + 1, sizeof(size_t));
	history->peak_look = SIZE_MAX;
	tpa_replay_open(&work.replay, trace, options, process->start_ns);
	replay_all(&work, process, &span);
	finish(&work, process);
	tpa_replay_free(&work.replay);
	free(work.sites);
	free(work.begin);
	free(work.periods);
	free(work.ops);
	free(work.threads);
	return history;
}

void tpa_history_free(struct tpa_history *history)
{
	if (!history)
		return;
	free(history->looks_ns);
	free(history->memory);
	free(history->sites);
	free(history->changes.list);
	free(history->changes.ends);
	free(history->cpu);
	free(history->samples.list);
	free(history->samples.ends);
	free(history->ops.list);
	free(history->ops.ends);
	free(history->work.list);
	free(history->work.ends);
	free(history->calls);
	free(history);
}
