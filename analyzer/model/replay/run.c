/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One or several processes. Each is replayed by itself, on one of several threads (replay.c), and what it changes is kept
 * (changes.h); then the changes of all are merged by time, for what they held together (together.c).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/workers.h"
#include "model/growth/growth.h"
#include "model/replay/changes.h"
#include "model/replay/replay.h"
#include "model/replay/run.h"
#include "model/replay/start_times.h"
#include "model/replay/together.h"
#include "trace/chunks.h"

#define PROGRESS_EVENTS 65536
#define START_MAX (UINT64_C(1) << 62)	  /* so that times don't overflow, whatever a damaged header says */
#define CHANGES_MEMORY ((size_t)64 << 20) /* bytes of changes that are kept in memory */

struct chosen {
	struct tpa_trace *trace;
	uint64_t start; /* of the process, ns */
};

struct work {
	const struct tpa_replay_options *asked;
	struct tpa_replay_options options; /* the same, made safe for several threads */
	struct tpa_run *run;
	struct chosen *chosen;
	size_t count;
	uint64_t *bytes; /* of events, by process */
	bool whole;	 /* all chunks are there, so the events can be read again */
	struct tpa_store *store;
	struct tpa_changes *changes; /* of several processes; else NULL */
	size_t *parents;
	uint64_t total;
	_Atomic uint64_t done;
	pthread_mutex_t lock; /* of `asked`'s functions */
};

static struct tpa_frame_name name_frame(void *context, const struct tpa_trace *trace, uint32_t frame)
{
	struct work *work = context;
	struct tpa_frame_name name;

	pthread_mutex_lock(&work->lock);
	name = work->asked->name_frame(work->asked->name_context, trace, frame);
	pthread_mutex_unlock(&work->lock);
	return name;
}

/* ---- one process ---- */

/* `counted`: what the replay has read and was counted before. */
static void show_progress(struct work *work, const struct tpa_replay *replay, uint64_t *counted)
{
	uint64_t done = tpa_events_done(replay->events);

	if (!work->asked->progress)
		return;
	atomic_fetch_add(&work->done, done - *counted);
	*counted = done;
	pthread_mutex_lock(&work->lock);
	work->asked->progress(work->asked->progress_context, atomic_load(&work->done), work->total);
	pthread_mutex_unlock(&work->lock);
}

/* Replays all events, and notes the changes. */
static void replay_events(struct work *work, size_t index, struct tpa_replay *replay, bool loaded)
{
	struct tpa_changes *changes = &work->changes[index];
	uint64_t counted = 0;

	tpa_changes_begin(changes, replay, loaded);
	while (replay->event) {
		for (size_t i = 0; i < PROGRESS_EVENTS && replay->event; i++) {
			uint64_t time_ns = tpa_replay_ns(replay, replay->event->time);

			tpa_replay_step(replay);
			tpa_changes_note(changes, replay, time_ns);
		}
		show_progress(work, replay, &counted);
	}
	tpa_changes_end(changes, replay);
}

/* The same without changes, since a single process is its own sum. */
static void replay_alone(struct work *work, struct tpa_replay *replay)
{
	uint64_t counted = 0;

	while (replay->event) {
		tpa_replay_steps(replay, PROGRESS_EVENTS);
		show_progress(work, replay, &counted);
	}
}

/* One pass. `anchor`: what ends the steps; its source may be none. */
static void replay_once(struct work *work, size_t index, struct tpa_replay *replay, const struct tpa_anchor *anchor)
{
	const struct chosen *chosen = &work->chosen[index];
	uint64_t start_ns = chosen->start - work->run->start_unix_ns;
	bool loaded =
		tpa_replay_open(replay, chosen->trace, &work->options, start_ns < START_MAX ? start_ns : START_MAX);

	if (anchor->source)
		replay->steps.anchor = *anchor;
	if (work->changes)
		replay_events(work, index, replay, loaded);
	else
		replay_alone(work, replay);
}

/* Replays it a second time if the first showed what ends the steps of a program that marks none. */
static void replay_process(void *context, size_t index)
{
	struct work *work = context;
	struct tpa_anchor anchor = { .source = TPA_STEPS_NONE };
	struct tpa_replay replay;

	replay_once(work, index, &replay, &anchor);
	if (work->options.find_steps && work->whole)
		tpa_replay_period(&replay, &anchor);
	if (anchor.source) {
		tpa_replay_free(&replay);
		atomic_fetch_sub(&work->done, work->options.progress ? work->bytes[index] : 0);
		replay_once(work, index, &replay, &anchor);
	}
	tpa_replay_result(&replay, &work->run->processes[index]);
	tpa_replay_free(&replay);
	if (work->count == 1)
		return;
	tpa_process_lay_aside(&work->run->processes[index]);
	tpa_trace_lay_aside(work->chosen[index].trace);
}

/* ---- the run ---- */

void tpa_run_sum_one(struct tpa_run *run)
{
	struct tpa_process *process = &run->processes[0];

	run->peak_bytes = process->combined_peak_bytes = process->heap.peak_bytes;
	run->peak_variance = process->combined_peak_variance = process->heap.variance.peak_bytes;
	run->peak_time_ns = process->heap.peak_time_ns;
	run->most_at_once = 1;
	run->resident =
		(struct tpa_resident_together){ .rss = process->heap.rss_peak, .separate = process->heap.rss_peak };
	run->pss_peak = process->makeup.pss_peak;
	run->point_count = process->point_count;
	run->timeline = tpa_copy(process->timeline, process->point_count * sizeof(*run->timeline));
}

static int by_start(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return TPA_UP(x->start, y->start) ?: TPA_UP(x->trace->header->pid, y->trace->header->pid);
}

/* The traces in order of start, without those that the options leave out; the run's start is that of all traces. */
static struct chosen *choose(struct work *work, struct tpa_trace *const *traces, size_t count)
{
	struct chosen *chosen = tpa_zalloc(count + 1, sizeof(*chosen));
	struct tpa_start *starts = tpa_starts_find(traces, count);
	size_t i;

	for (i = 0; i < count; i++)
		chosen[i] = (struct chosen){ traces[i], starts[i].ns };
	free(starts);
	qsort(chosen, count, sizeof(*chosen), by_start);
	if (count)
		work->run->start_unix_ns = chosen[0].start;
	for (i = 0; i < count; i++)
		if (!work->asked->pid || chosen[i].trace->header->pid == work->asked->pid)
			chosen[work->count++] = chosen[i];
	return chosen;
}

static bool is_forked(const struct tpa_trace *trace)
{
	return trace->header->origin == TPROF_ORIGIN_FORK;
}

/* Finds out which changes are of interest to the sums. */
static void prepare_changes(struct work *work)
{
	struct tpa_trace **traces = tpa_zalloc(work->count, sizeof(struct tpa_trace *));
	struct tpa_start *starts;

	work->store = tpa_store_new(CHANGES_MEMORY);
	work->changes = tpa_zalloc(work->count, sizeof(*work->changes));
	work->parents = tpa_zalloc(work->count, sizeof(*work->parents));
	for (size_t i = 0; i < work->count; i++)
		traces[i] = work->chosen[i].trace;
	starts = tpa_starts_find(traces, work->count);
	for (size_t i = 0; i < work->count; i++) {
		size_t parent = starts[i].parent;

		work->parents[i] = parent;
		work->changes[i].trace = traces[i];
		work->changes[i].forked = is_forked(traces[i]) && parent < work->count;
		if (work->changes[i].forked)
			work->changes[parent].forks = true;
	}
	for (size_t i = 0; i < work->count; i++)
		tpa_changes_init(&work->changes[i], work->store);
	free(starts);
	free(traces);
}

static void prepare(struct work *work)
{
	work->run->process_count = work->count;
	work->run->processes = tpa_zalloc(work->count + 1, sizeof(*work->run->processes));
	work->bytes = tpa_zalloc(work->count + 1, sizeof(*work->bytes));
	work->whole = true;
	for (size_t i = 0; i < work->count; i++) {
		const struct tpa_chunks *chunks = tpa_trace_chunks(work->chosen[i].trace);

		work->bytes[i] = tpa_chunks_bytes(chunks);
		work->total += work->bytes[i];
		work->whole = work->whole && tpa_chunks_are_whole(chunks);
	}
	if (work->count > 1)
		prepare_changes(work);
	pthread_mutex_init(&work->lock, NULL);
	work->options = *work->asked;
	if (work->options.name_frame) {
		work->options.name_frame = name_frame;
		work->options.name_context = work;
	}
}

static void release(struct work *work)
{
	for (size_t i = 0; work->changes && i < work->count; i++)
		tpa_changes_free(&work->changes[i]);
	free(work->changes);
	free(work->parents);
	tpa_store_free(work->store);
	free(work->bytes);
	free(work->chosen);
	pthread_mutex_destroy(&work->lock);
}

struct tpa_run *tpa_run_replay(struct tpa_trace *const *traces, size_t count, const struct tpa_replay_options *options)
{
	static const struct tpa_replay_options none;
	struct work work = { .asked = options ? options : &none, .run = tpa_zalloc(1, sizeof(*work.run)) };
	struct tpa_run *run = work.run;

	work.chosen = choose(&work, traces, count);
	prepare(&work);
	tpa_workers_largest(work.asked->threads, work.bytes, work.count, replay_process, &work);
	for (size_t i = 0; i < work.count; i++) {
		struct tpa_process *process = &run->processes[i];
		uint64_t end = process->start_ns + process->duration_ns;

		process->parent = work.count;
		run->duration_ns = end > run->duration_ns ? end : run->duration_ns;
	}
	if (work.count == 1)
		tpa_run_sum_one(run);
	else
		tpa_together(run, work.changes, work.parents, work.asked);
	release(&work);
	return run;
}
