/* SPDX-License-Identifier: Apache-2.0 */
/* Saving a replay, loading it, and looking at it without changing it. */
#include "base/memory.h"
#include "model/replay/replay_impl.h"

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
	tp_events_archive(archive, replay->events, replay->event != NULL);
	tp_damage_archive(archive, replay->trace);
	if (tp_archive_numbers_begin(&numbers, archive, replay->trace, replay->ops.calls.same, replay->ops.calls.count))
		tp_replay_archive_parts(archive, visited);
	tp_archive_numbers_end(&numbers);
	return !archive->failed;
}

bool tp_replay_load(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		    uint64_t start_ns, struct tp_archive *archive)
{
	struct tp_archive_numbers numbers;

	tp_replay_prepare(replay, trace, options, start_ns);
	archive_options(archive, replay);
	if (archive->failed)
		return false;
	tp_events_archive(archive, replay->events, false);
	if (!archive->failed)
		tp_damage_archive(archive, trace);
	if (archive->failed)
		return false;
	tp_replay_fetch(replay);
	if (tp_archive_numbers_begin(&numbers, archive, trace, replay->ops.calls.same, replay->ops.calls.count))
		tp_replay_archive_parts(archive, replay);
	tp_archive_numbers_end(&numbers);
	return !archive->failed;
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
		if (good)
			tp_replay_result(&copy, process);
		tp_replay_free(&copy);
	}
	tp_archive_free(&saved);
	return good;
}

bool tp_replay_refresh(struct tp_replay *replay, char **error)
{
	struct tp_archive saved = { 0 }, loading = { 0 };
	const struct tp_replay_options *options = replay->options;
	struct tp_trace *trace = replay->trace;
	uint64_t start_ns = replay->start_ns;
	bool any = replay->event || replay->heap.counts.events, good = tp_replay_save(replay, &saved);

	*error = NULL;
	tp_replay_free(replay);
	good = good && tp_trace_refresh(trace, error);
	tp_archive_load_from(&loading, saved.bytes, saved.size);
	if (good && any)
		good = tp_replay_load(replay, trace, options, start_ns, &loading);
	else
		tp_replay_init(replay, trace, options, start_ns); /* after a failure it can be freed */
	if (!good && !*error)
		*error = tp_strdup(loading.failed ? loading.failed : saved.failed);
	tp_archive_free(&saved);
	return good;
}
