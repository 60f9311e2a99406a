/* SPDX-License-Identifier: Apache-2.0 */
/* Saving a replay, loading it, and looking at it without changing it. */
#include <stdlib.h>

#include "base/memory.h"
#include "trace/number_archive.h"
#include "model/replay/replay_impl.h"

/* ---- threads ---- */

static void archive_undo(struct tp_archive *archive, const struct tp_replay *replay, struct tp_undo *undo)
{
	TP_ARCHIVE(archive, undo->what);
	TP_ARCHIVE(archive, undo->block);
	TP_ARCHIVE(archive, undo->counted);
	TP_ARCHIVE(archive, undo->temporary);
	TP_ARCHIVE(archive, undo->short_lived);
	tp_archive_array(archive, &undo->ranges.list, &undo->ranges.count, &undo->ranges.room,
			 sizeof(*undo->ranges.list));
	tp_archive_check(archive,
			 undo->block.site < replay->sites.count && tp_maps_ranges_valid(&replay->maps, &undo->ranges),
			 "what a thread did last is out of range");
}

static void archive_thread(struct tp_archive *archive, struct tp_replay *replay, struct tp_thread_state *thread)
{
	TP_ARCHIVE(archive, thread->stats);
	TP_ARCHIVE(archive, thread->first);
	TP_ARCHIVE(archive, thread->last);
	TP_ARCHIVE(archive, thread->newest);
	TP_ARCHIVE(archive, thread->newest_time);
	TP_ARCHIVE(archive, thread->remapped_file);
	archive_undo(archive, replay, &thread->undo);
	tp_op_stack_archive(archive, &replay->ops, &thread->open);
	tp_sequence_archive(archive, &thread->calls);
	TP_ARCHIVE(archive, thread->counters_time);
	TP_ARCHIVE(archive, thread->counters_cost_ns);
	TP_ARCHIVE(archive, thread->cpu_ns);
	TP_ARCHIVE(archive, thread->usage_ns);
	TP_ARCHIVE(archive, thread->allocations);
	TP_ARCHIVE(archive, thread->frees);
	TP_ARCHIVE(archive, thread->bytes);
}

/* Makes the thread with the number that comes next. NULL: the archive has failed. */
static struct tp_thread_state *load_thread(struct tp_archive *archive, struct tp_replay *replay)
{
	struct tp_event event = { 0 };
	struct tp_thread_state *thread;

	TP_ARCHIVE(archive, event.thread);
	if (!tp_archive_check(archive, event.thread < tp_trace_thread_limit(replay->trace),
			      "a thread's number is out of range") ||
	    !tp_archive_check(archive, event.thread >= replay->index_count || !replay->thread_index[event.thread],
			      "two threads have one number"))
		return NULL;
	thread = tp_replay_new_thread(replay, &event);
	if (!thread)
		tp_archive_no_memory(archive);
	return thread;
}

/* In the order in which they came: that of a report depends on it. */
static void archive_threads(struct tp_archive *archive, struct tp_replay *replay)
{
	size_t count = replay->thread_count;

	TP_ARCHIVE(archive, count);
	for (size_t i = 0; !archive->loading && i < count; i++) {
		TP_ARCHIVE(archive, replay->threads[i].stats.thread);
		archive_thread(archive, replay, &replay->threads[i]);
	}
	while (archive->loading && count-- && !archive->failed) {
		struct tp_thread_state *thread = load_thread(archive, replay);
		uint32_t number = thread ? thread->stats.thread : 0;

		if (!thread)
			return;
		archive_thread(archive, replay, thread);
		thread->stats.thread = number;
	}
}

/* ---- all of it ---- */

static void archive_time(struct tp_archive *archive, struct tp_replay *replay)
{
	TP_ARCHIVE(archive, replay->pauses);
	TP_ARCHIVE(archive, replay->paused);
	TP_ARCHIVE(archive, replay->pause_began);
	TP_ARCHIVE(archive, replay->in_pause);
	TP_ARCHIVE(archive, replay->inside);
	TP_ARCHIVE(archive, replay->first);
	TP_ARCHIVE(archive, replay->last);
}

static void archive_amounts(struct tp_archive *archive, struct tp_replay *replay)
{
	TP_ARCHIVE(archive, replay->amount);
	TP_ARCHIVE(archive, replay->before);
	TP_ARCHIVE(archive, replay->peak_number);
	TP_ARCHIVE(archive, replay->peak_time);
	TP_ARCHIVE(archive, replay->heap);
	TP_ARCHIVE(archive, replay->now);
	TP_ARCHIVE(archive, replay->parts);
	TP_ARCHIVE(archive, replay->allocator_live);
	TP_ARCHIVE(archive, replay->cpu_outside);
	TP_ARCHIVE(archive, replay->cpu_periods);
	TP_ARCHIVE(archive, replay->usage);
	TP_ARCHIVE(archive, replay->usage_ns);
	TP_ARCHIVE(archive, replay->usage_told);
	TP_ARCHIVE(archive, replay->counters);
	TP_ARCHIVE(archive, replay->counters_cost_ns);
	TP_ARCHIVE(archive, replay->combined_number);
	TP_ARCHIVE(archive, replay->combined_peak);
	TP_ARCHIVE(archive, replay->combined_variance);
	TP_ARCHIVE(archive, replay->ended);
}

static void archive_order(struct tp_archive *archive, struct tp_replay *replay)
{
	TP_ARCHIVE(archive, replay->early);
	TP_ARCHIVE(archive, replay->late);
	TP_ARCHIVE(archive, replay->early_next);
	TP_ARCHIVE(archive, replay->late_next);
	TP_ARCHIVE(archive, replay->late_count);
	tp_archive_check(archive, replay->late_count <= TP_STRAYS, "the order of events is out of range");
}

static void archive_anchor(struct tp_archive *archive, struct tp_replay *replay)
{
	TP_ARCHIVE(archive, replay->anchor);
	tp_archive_op(archive, &replay->anchor.op);
	TP_ARCHIVE(archive, replay->sequences);
}

/* The parts, one after the other: those that others are checked against go first. */
static void archive_parts(struct tp_archive *archive, struct tp_replay *replay)
{
	tp_sites_archive(archive, &replay->sites);
	tp_estimates_archive(archive, &replay->estimates);
	tp_live_archive(archive, &replay->live);
	tp_pools_archive(archive, &replay->pools);
	tp_outlived_archive(archive, &replay->outlived);
	tp_maps_archive(archive, &replay->maps);
	tp_cpu_archive(archive, &replay->cpu);
	tp_ops_archive(archive, &replay->ops);
	tp_steps_archive(archive, &replay->steps);
	tp_growth_archive(archive, &replay->of_steps);
	tp_growth_archive(archive, &replay->of_time);
	tp_makeup_archive(archive, &replay->makeup);
	tp_allocator_archive(archive, &replay->allocator);
	tp_timeline_archive(archive, &replay->timeline);
	tp_marks_archive(archive, &replay->marks);
}

static bool blocks_have_sites(const struct tp_live *live, size_t sites)
{
	for (size_t i = 0; live->blocks && i < (size_t)1 << (64 - live->shift); i++)
		if (live->blocks[i].site >= sites)
			return false;
	return true;
}

static bool is_consistent(const struct tp_replay *replay)
{
	size_t sites = replay->sites.count;

	for (size_t i = 0; i < replay->outlived.count; i++)
		if (replay->outlived.list[i].site >= sites)
			return false;
	return blocks_have_sites(&replay->live, sites) && blocks_have_sites(&replay->pools.blocks, sites) &&
	       replay->of_steps.sites.count <= sites && replay->of_time.sites.count <= sites &&
	       replay->of_steps.maps.count <= replay->maps.site_count &&
	       replay->of_time.maps.count <= replay->maps.site_count;
}

static void archive_replay(struct tp_archive *archive, struct tp_replay *replay)
{
	archive_time(archive, replay);
	archive_amounts(archive, replay);
	archive_order(archive, replay);
	archive_anchor(archive, replay);
	archive_parts(archive, replay);
	archive_threads(archive, replay);
	tp_archive_check(archive, is_consistent(replay), "a block or a look is of no site");
}

static void expect(struct tp_archive *archive, uint64_t value, const char *reason)
{
	uint64_t there = value;

	TP_ARCHIVE(archive, there);
	tp_archive_check(archive, there == value, reason);
}

/* Whoever loads must have the same trace and ask for the same. */
static void archive_options(struct tp_archive *archive, const struct tp_replay *replay)
{
	static const char other_trace[] = "the saved state is of another trace";
	static const char other_options[] = "the saved state was made with other options";
	const struct tp_replay_options *options = replay->options;

	expect(archive, replay->trace->header->pid, other_trace);
	expect(archive, replay->trace->header->start.unix_ns, other_trace);
	expect(archive, replay->trace->header->start.ticks, other_trace);
	expect(archive, replay->start_ns, other_options);
	expect(archive, options->group, other_options);
	expect(archive, options->thread, other_options);
	expect(archive, options->from_ns, other_options);
	expect(archive, options->batches, other_options);
}

bool tp_replay_save(const struct tp_replay *replay, struct tp_archive *archive)
{
	struct tp_replay *visited = (struct tp_replay *)(uintptr_t)replay; /* saving changes nothing */
	struct tp_archive_numbers numbers;

	archive_options(archive, replay);
	tp_damage_archive(archive, replay->trace);
	tp_events_archive(archive, replay->events, replay->event != NULL);
	if (tp_archive_numbers_begin(&numbers, archive, replay->trace, replay->ops.same, replay->ops.count))
		archive_replay(archive, visited);
	tp_archive_numbers_end(&numbers);
	return !archive->failed;
}

bool tp_replay_load(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		    uint64_t start_ns, struct tp_archive *archive)
{
	struct tp_archive_numbers numbers;

	if (!tp_replay_prepare(replay, trace, options, start_ns)) {
		tp_archive_no_memory(archive);
		return false;
	}
	archive_options(archive, replay);
	if (!archive->failed)
		tp_damage_archive(archive, trace);
	if (!archive->failed)
		tp_events_archive(archive, replay->events, false);
	if (!archive->failed && !tp_replay_fetch(replay))
		tp_archive_no_memory(archive);
	if (!archive->failed &&
	    tp_archive_numbers_begin(&numbers, archive, trace, replay->ops.same, replay->ops.count)) {
		archive_replay(archive, replay);
		tp_archive_numbers_end(&numbers);
	}
	if (!archive->failed && replay->sampled)
		tp_estimates_reserve(&replay->estimates, replay->sites.count);
	return !archive->failed;
}

bool tp_replay_refresh(struct tp_replay *replay, char **error)
{
	struct tp_archive saved = { 0 }, loading = { 0 };
	const struct tp_replay_options *options = replay->options;
	struct tp_trace *trace = replay->trace;
	uint64_t start_ns = replay->start_ns;
	bool any = replay->event || replay->heap.events, good = tp_replay_save(replay, &saved);

	*error = NULL;
	tp_replay_free(replay);
	good = good && tp_trace_refresh(trace, error);
	tp_archive_load_from(&loading, saved.bytes, saved.size);
	if (good && any)
		good = tp_replay_load(replay, trace, options, start_ns, &loading);
	else if (!tp_replay_init(replay, trace, options, start_ns)) /* after a failure it can be freed */
		good = false;
	if (!good && !*error)
		*error = tp_strdup(loading.failed ? loading.failed : saved.failed ? saved.failed : "out of memory");
	tp_archive_free(&saved);
	return good;
}

bool tp_replay_look(const struct tp_replay *replay, struct tp_process *process)
{
	struct tp_archive saved = { 0 }, loaded = { 0 };
	struct tp_replay copy = { 0 };
	bool good = tp_replay_save(replay, &saved);

	if (good) {
		tp_archive_load_from(&loaded, saved.bytes, saved.size);
		good = tp_replay_load(&copy, replay->trace, replay->options, replay->start_ns, &loaded);
		tp_archive_free(&saved);
		good = good && tp_replay_result(&copy, process);
		tp_replay_free(&copy);
	}
	tp_archive_free(&saved);
	return good;
}
