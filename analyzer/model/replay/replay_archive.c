/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads a replay, and looks at it without changing it. */
#include <stdlib.h>

#include "base/memory.h"
#include "model/replay/replay_impl.h"
#include "trace/checkpoint.h"
#include "trace/chunks.h"

static void expect(struct tpa_archive *archive, uint64_t value, const char *reason)
{
	uint64_t there = value;

	TPA_ARCHIVE(archive, there);
	tpa_archive_check(archive, there == value, reason);
}

/* A state is loaded with the trace and the options with which it was saved. */
static void archive_options(struct tpa_archive *archive, const struct tpa_trace *trace,
			    const struct tpa_replay_options *options)
{
	static const char other_trace[] = "the saved state is of another trace";
	static const char other_options[] = "the saved state was made with other options";

	expect(archive, trace->header->pid, other_trace);
	expect(archive, trace->header->start.unix_ns, other_trace);
	expect(archive, trace->header->start.ticks, other_trace);
	/* Where totals are enough, a state with all stacks will do. */
	expect(archive, options->group == TPA_GROUP_NONE ? TPA_GROUP_STACK : options->group, other_options);
	expect(archive, options->thread, other_options);
	expect(archive, options->from_ns, other_options);
}

/* All but the list of chunks, for a copy that reads the same trace. */
static bool save(const struct tpa_replay *replay, struct tpa_archive *archive)
{
	struct tpa_replay *visited = (struct tpa_replay *)(uintptr_t)replay; /* saving changes nothing */
	struct tpa_archive_numbers numbers;

	tpa_events_archive(archive, replay->events, replay->event != NULL);
	tpa_damage_archive(archive, replay->trace);
	tpa_archive_numbers_begin(&numbers, archive, replay->trace, replay->ops.calls.same, replay->ops.calls.count);
	tpa_replay_archive_parts(archive, visited);
	return !archive->failed;
}

static bool load(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		 uint64_t start_ns, struct tpa_archive *archive)
{
	struct tpa_archive_numbers numbers;

	tpa_replay_prepare(replay, trace, options, start_ns);
	if (!archive->failed)
		tpa_events_archive(archive, replay->events, false);
	if (!archive->failed)
		tpa_damage_archive(archive, trace);
	if (archive->failed)
		return false;
	tpa_replay_fetch(replay);
	tpa_archive_numbers_begin(&numbers, archive, trace, replay->ops.calls.same, replay->ops.calls.count);
	tpa_replay_archive_parts(archive, replay);
	if (!archive->failed)
		tpa_replay_find_pools(replay);
	return !archive->failed;
}

bool tpa_replay_save(const struct tpa_replay *replay, struct tpa_archive *archive)
{
	archive_options(archive, replay->trace, replay->options);
	tpa_chunks_archive(archive, replay->trace);
	return save(replay, archive);
}

bool tpa_replay_load(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		     uint64_t start_ns, struct tpa_archive *archive)
{
	archive_options(archive, trace, options);
	if (!archive->failed)
		tpa_chunks_archive(archive, trace);
	return load(replay, trace, options, start_ns, archive);
}

bool tpa_replay_open(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		     uint64_t start_ns)
{
	struct tpa_archive archive = { 0 };
	size_t size = 0;
	uint8_t *bytes = tpa_checkpoint_read(trace, &size);
	bool loaded = false;

	if (bytes && tpa_archive_open(&archive, bytes, size)) {
		loaded = tpa_replay_load(replay, trace, options, start_ns, &archive);
		if (loaded)
			tpa_replay_folded_go_on(replay);
		else
			tpa_replay_free(replay);
	}
	if (bytes && !loaded)
		tpa_damage_note(trace, offsetof(struct tprof_header, checkpoint), archive.failed);
	free(bytes);
	if (!loaded)
		tpa_replay_init(replay, trace, options, start_ns);
	return loaded;
}

bool tpa_replay_look(const struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_archive saved = { 0 }, loaded = { 0 };
	struct tpa_replay copy = { 0 };
	bool good = save(replay, &saved);

	if (good) {
		tpa_archive_load_from(&loaded, saved.bytes, saved.size);
		good = load(&copy, replay->trace, replay->options, replay->start_ns, &loaded);
		tpa_archive_free(&saved);
		if (good)
			tpa_replay_result(&copy, process);
		tpa_replay_free(&copy);
	}
	tpa_archive_free(&saved);
	return good;
}

bool tpa_replay_refresh(struct tpa_replay *replay, char **error)
{
	struct tpa_archive saved = { 0 }, loading = { 0 };
	const struct tpa_replay_options *options = replay->options;
	struct tpa_trace *trace = replay->trace;
	uint64_t start_ns = replay->start_ns;
	uint64_t checkpoint = trace->header->checkpoint;
	bool any = replay->event || replay->heap.counts.events, good = save(replay, &saved);

	*error = NULL;
	tpa_replay_free(replay);
	good = good && tpa_trace_refresh(trace, error);
	tpa_archive_load_from(&loading, saved.bytes, saved.size);
	/* Chunks of a ring may have come and gone meanwhile; its checkpoint has them. */
	if (good && any && trace->header->checkpoint == checkpoint) {
		good = load(replay, trace, options, start_ns, &loading);
		if (good)
			tpa_replay_folded_go_on(replay);
	} else
		tpa_replay_open(replay, trace, options, start_ns); /* also after a failure, so that it can be freed */
	if (!good && !*error)
		*error = tpa_strdup(loading.failed ? loading.failed : saved.failed);
	tpa_archive_free(&saved);
	return good;
}
