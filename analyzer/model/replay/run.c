/* SPDX-License-Identifier: Apache-2.0 */
/* One or several processes: each replayed by replay.c; several are merged by time, for the peak of their sum. */
#include <stdlib.h>
#include <string.h>

#include "model/growth/growth.h"
#include "model/replay/replay.h"
#include "model/replay/resident_sum.h"
#include "model/replay/run.h"
#include "model/replay/start_times.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/queue.h"
#include "trace/checkpoint.h"
#include "trace/chunks.h"

#define PROGRESS_EVENTS 65536
#define START_MAX (UINT64_C(1) << 62) /* so that times don't overflow, whatever a damaged header says */

struct work {
	const struct tpa_replay_options *options;
	struct tpa_run *run;
	struct tpa_replay *replays;
	size_t count;
	uint64_t total, steps;

	/* Of all processes together. */
	struct tpa_point now;
	struct tpa_timeline timeline;
	struct tpa_resident_sum *resident;
	uint64_t peak_number, last_ns;
	size_t living;
	bool *begun; /* by process: it counts among the living, or has ended */
	bool inside; /* `from` has been reached */
};

static void show_progress(struct work *work)
{
	uint64_t done = 0;
	size_t i;

	if (!work->options->progress)
		return;
	for (i = 0; i < work->count; i++)
		done += tpa_events_done(work->replays[i].events);
	work->options->progress(work->options->progress_context, done, work->total);
}

static void replay_one(struct work *work)
{
	struct tpa_replay *replay = &work->replays[0];

	while (replay->event) {
		tpa_replay_steps(replay, PROGRESS_EVENTS);
		show_progress(work);
	}
}

/* Notes what is resident now if it is the most so far. */
static void note_resident(struct work *work, uint64_t time_ns)
{
	const struct tpa_resident_together *now = tpa_resident_sum_now(work->resident);
	struct tpa_run *run = work->run;

	work->now.rss = now->rss;
	if (!work->inside)
		return;
	if (now->rss > run->resident.rss) {
		run->resident = *now;
		run->resident.time_ns = time_ns;
	}
	run->pss_peak = now->pss > run->pss_peak ? now->pss : run->pss_peak;
}

/* To be called before the process changes the sum at that time. True: `from` has been reached. */
static bool begin_change(struct work *work, struct tpa_replay *replay, uint64_t time_ns)
{
	const struct tpa_point *now = &work->now;

	/* The process has not changed since the last peaks of the sum, so its state then is its present one. */
	if (replay->sum.number != work->peak_number) {
		replay->sum.number = work->peak_number;
		replay->sum.peak = replay->sum.folded ? 0 : replay->now.live_bytes;
		replay->sum.variance = replay->sum.folded ? 0 : replay->now.bytes_variance;
	}
	if (time_ns < work->options->from_ns)
		return false;
	if (!work->inside) {
		work->inside = true;
		work->run->peak_bytes = now->live_bytes;
		work->run->peak_variance = now->bytes_variance;
		work->run->peak_time_ns = time_ns;
		work->peak_number++;
		note_resident(work, time_ns);
		work->run->most_at_once = work->living;
	}
	tpa_timeline_advance(&work->timeline, time_ns, now);
	return true;
}

static const struct tpa_point nothing;

static void change_sum(struct work *work, const struct tpa_point *before, const struct tpa_point *after,
		       uint64_t time_ns)
{
	struct tpa_point *now = &work->now;

	now->live_bytes += after->live_bytes - before->live_bytes;
	now->live_blocks += after->live_blocks - before->live_blocks;
	now->bytes_variance += after->bytes_variance - before->bytes_variance;
	now->blocks_variance += after->blocks_variance - before->blocks_variance;
	now->mapped_bytes += after->mapped_bytes - before->mapped_bytes;
	now->vms += after->vms - before->vms;
	work->last_ns = time_ns;
}

/* After a change: the process was `before`, and is `after`. */
static void note_change(struct work *work, struct tpa_replay *replay, const struct tpa_point *before, uint64_t time_ns,
			bool inside)
{
	struct tpa_point *now = &work->now;
	size_t index = (size_t)(replay - work->replays);

	change_sum(work, before, &replay->now, time_ns);
	if (tpa_resident_sum_changed(work->resident, index, before)) {
		tpa_resident_sum_update(work->resident, index, time_ns);
		note_resident(work, time_ns);
	}
	if (!inside)
		return;
	tpa_timeline_record(&work->timeline, time_ns, now);
	tpa_timeline_record_rss(&work->timeline, time_ns, now);
	if (now->live_bytes > work->run->peak_bytes) {
		work->run->peak_bytes = now->live_bytes;
		work->run->peak_variance = now->bytes_variance;
		work->run->peak_time_ns = time_ns;
		work->peak_number++;
	}
}

static void begin_one(struct work *work, const struct tpa_replay *replay)
{
	size_t index = (size_t)(replay - work->replays);

	if (work->begun[index])
		return;
	work->begun[index] = true;
	work->living++;
	if (work->inside && work->living > work->run->most_at_once)
		work->run->most_at_once = work->living;
}

/* Replays one event of one process, and updates the sum. */
static void step_of_many(struct work *work, struct tpa_replay *replay, uint64_t time_ns)
{
	struct tpa_point before = replay->now;
	bool inside = begin_change(work, replay, time_ns);

	begin_one(work, replay);
	tpa_replay_step(replay);
	note_change(work, replay, &before, time_ns, inside);
}

/* What a ring's process held at its checkpoint counts from its start: what it held before is not known. */
static void begin_of_ring(struct work *work, struct tpa_replay *replay, uint64_t time_ns)
{
	bool inside = begin_change(work, replay, time_ns);

	begin_one(work, replay);
	note_change(work, replay, &nothing, time_ns, inside);
	replay->sum.folded = false;
}

/* The process ends: the sum goes on without all that it held. */
static void end_of_one(struct work *work, struct tpa_replay *replay, uint64_t time_ns)
{
	begin_change(work, replay, time_ns);
	change_sum(work, &replay->now, &nothing, time_ns);
	tpa_resident_sum_end(work->resident, (size_t)(replay - work->replays));
	work->now.rss = tpa_resident_sum_now(work->resident)->rss;
	work->living--;
	replay->sum.ended = true;
}

/* Whether the process was killed: the time of its end is not in its trace. */
static bool is_killed(const struct tpa_replay *replay)
{
	return replay->trace->header->end == TPROF_END_NONE && !replay->trace->running;
}

static bool is_child(const struct tprof_header *child, const struct tprof_header *parent)
{
	return child->ppid == parent->pid && child->pid_namespace == parent->pid_namespace &&
	       child->start.mono_ns >= parent->start.mono_ns && child->parent_seen_ns >= child->start.mono_ns;
}

/* When a child last saw the process: a parent that waits for its children records no events. */
static uint64_t seen_by_children(const struct work *work, const struct tpa_replay *parent)
{
	uint64_t last = 0;

	for (size_t i = 0; i < work->count; i++) {
		const struct tprof_header *child = work->replays[i].trace->header;
		uint64_t seen;

		if (!is_child(child, parent->trace->header))
			continue;
		seen = work->replays[i].start_ns + (child->parent_seen_ns - child->start.mono_ns);
		last = seen > last ? seen : last;
	}
	return last;
}

/* Whether a child that has not ended in the replay never saw the process gone. */
static bool outlives_a_child(const struct work *work, const struct tpa_replay *parent)
{
	for (size_t i = 0; i < work->count; i++) {
		const struct tprof_header *child = work->replays[i].trace->header;

		if (!work->replays[i].sum.ended && &work->replays[i] != parent &&
		    is_child(child, parent->trace->header) && child->parent_seen_ns == child->latest.mono_ns)
			return true;
	}
	return false;
}

/*
 * Pushes the process's next event or, after the last one, its end. A process that runs, or whose end lies after `to`, has no
 * end. Ends come before events of the same time.
 */
static void push_next(const struct work *work, struct tpa_queue *queue, struct tpa_replay *replay, uint64_t not_before)
{
	uint64_t number = (uint64_t)(replay - work->replays);
	uint64_t key = replay->event ? tpa_replay_ns(replay, replay->event->time) : tpa_replay_end_ns(replay);

	if (!replay->event && is_killed(replay)) {
		uint64_t seen = seen_by_children(work, replay);

		key = seen > key ? seen : key;
	}
	key = not_before > key ? not_before : key;
	if (replay->event)
		number += work->count;
	else if (replay->trace->running || replay->cut || (work->options->to_ns && key > work->options->to_ns))
		return;
	tpa_queue_push(queue, key, number, replay);
}

/* Handles an end that has come. Parents that were only known to live as long as this process may end with it. */
static void take_end(struct work *work, struct tpa_queue *queue, struct tpa_replay *replay, uint64_t time_ns)
{
	replay->sum.waits = is_killed(replay) && outlives_a_child(work, replay);
	if (replay->sum.waits || !queue->count)
		return; /* the last point of the timeline is what the last processes held when the run ended */
	end_of_one(work, replay, time_ns);
	for (size_t i = 0; i < work->count; i++) {
		struct tpa_replay *parent = &work->replays[i];

		if (!parent->sum.waits || !is_child(replay->trace->header, parent->trace->header))
			continue;
		parent->sum.waits = false;
		push_next(work, queue, parent, time_ns);
	}
}

static void replay_many(struct work *work)
{
	struct tpa_queue queue = { .items = tpa_zalloc(work->count, sizeof(*queue.items)) };
	size_t i;

	for (i = 0; i < work->count; i++)
		if (work->replays[i].sum.folded)
			tpa_queue_push(&queue, work->replays[i].start_ns, work->count + i, &work->replays[i]);
		else if (work->replays[i].event)
			push_next(work, &queue, &work->replays[i], 0);
	while (queue.count) {
		struct tpa_queue_item item = queue.items[0];
		struct tpa_replay *replay = item.what;

		if (!replay->event && !replay->sum.folded) {
			tpa_queue_drop_first(&queue);
			take_end(work, &queue, replay, item.key);
			continue;
		}
		if (replay->sum.folded)
			begin_of_ring(work, replay, item.key);
		else
			step_of_many(work, replay, item.key);
		if (replay->event) {
			queue.items[0].key = tpa_replay_ns(replay, replay->event->time);
			tpa_queue_sink(&queue);
		} else {
			tpa_queue_drop_first(&queue);
			push_next(work, &queue, replay, 0);
		}
		if (++work->steps % PROGRESS_EVENTS == 0)
			show_progress(work);
	}
	free(queue.items);
}

/* The sum is not known before a ring's checkpoint, but it was no less than one process had. */
static void raise_peak(struct work *work, struct tpa_process *process)
{
	struct tpa_run *run = work->run;

	if (!tpa_trace_checkpoint(process->trace) || process->heap.peak_bytes <= run->peak_bytes)
		return;
	for (size_t i = 0; i < work->count; i++)
		run->processes[i].combined_peak_bytes = 0;
	run->peak_bytes = process->combined_peak_bytes = process->heap.peak_bytes;
	run->peak_time_ns = process->heap.peak_time_ns;
	run->peak_variance = process->combined_peak_variance = process->heap.variance.peak_bytes;
}

/* All together had no less resident than one had alone, whose highest RSS the kernel knows also between two samples. */
static void raise_resident(struct tpa_run *run)
{
	for (size_t i = 0; i < run->process_count; i++) {
		uint64_t alone = run->processes[i].heap.rss_peak;

		run->resident.rss = alone > run->resident.rss ? alone : run->resident.rss;
		run->resident.separate = alone > run->resident.separate ? alone : run->resident.separate;
	}
}

static void collect_sum(struct work *work)
{
	struct tpa_run *run = work->run;
	bool read = false;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct tpa_replay *replay = &work->replays[i];

		if (replay->sum.number != work->peak_number) {
			replay->sum.peak = replay->sum.ended ? 0 : replay->now.live_bytes;
			replay->sum.variance = replay->sum.ended ? 0 : replay->now.bytes_variance;
		}
		run->processes[i].combined_peak_bytes = replay->sum.peak;
		run->processes[i].combined_peak_variance = replay->sum.variance;
	}
	for (i = 0; i < work->count; i++)
		raise_peak(work, &run->processes[i]);
	for (i = 0; i < work->count; i++)
		read = read || run->processes[i].makeup.readings;
	run->pss_peak = read ? run->pss_peak : 0;
	run->timeline = tpa_timeline_finish(&work->timeline, work->last_ns, &work->now, &run->point_count);
	tpa_resident_sum_correct(work->resident, run);
	raise_resident(run);
}

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

static void collect(struct work *work)
{
	struct tpa_run *run = work->run;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct tpa_process *process = &run->processes[i];
		uint64_t end;

		tpa_replay_result(&work->replays[i], process);
		tpa_resident_sum_result(work->resident, i, process);
		end = process->start_ns + process->duration_ns;
		if (end > run->duration_ns)
			run->duration_ns = end;
	}
	show_progress(work);
	if (work->count == 1)
		tpa_run_sum_one(run);
	else
		collect_sum(work);
}

struct chosen {
	struct tpa_trace *trace;
	uint64_t start; /* of the process, ns */
};

static int by_start(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return TPA_UP(x->start, y->start) ?: TPA_UP(x->trace->header->pid, y->trace->header->pid);
}

/* The traces in order of start, without those that the options leave out; the run's start is that of all traces. */
static struct chosen *choose(struct work *work, struct tpa_trace *const *traces, size_t count)
{
	struct chosen *chosen = tpa_zalloc(count + 1, sizeof(*chosen));
	size_t i;

	for (i = 0; i < count; i++)
		chosen[i] = (struct chosen){ traces[i], tpa_start_of(traces, count, i) };
	qsort(chosen, count, sizeof(*chosen), by_start);
	if (count)
		work->run->start_unix_ns = chosen[0].start;
	for (i = 0; i < count; i++)
		if (!work->options->pid || chosen[i].trace->header->pid == work->options->pid)
			chosen[work->count++] = chosen[i];
	return chosen;
}

static void prepare(struct work *work, const struct chosen *chosen)
{
	size_t i;

	work->replays = tpa_zalloc(work->count + 1, sizeof(*work->replays));
	work->run->processes = tpa_zalloc(work->count + 1, sizeof(*work->run->processes));
	tpa_timeline_init(&work->timeline, work->options->timeline_points);
	work->begun = tpa_zalloc(work->count + 1, sizeof(*work->begun));
	work->run->process_count = work->count;
	for (i = 0; i < work->count; i++) {
		uint64_t start_ns = chosen[i].start - work->run->start_unix_ns;

		if (start_ns > START_MAX)
			start_ns = START_MAX;
		work->replays[i].sum.folded =
			tpa_replay_open(&work->replays[i], chosen[i].trace, work->options, start_ns);
		work->total += tpa_events_total(work->replays[i].events);
	}
	work->resident = tpa_resident_sum_new(work->replays, work->count);
}

/* Chunks that are gone can't be replayed a second time. */
static bool are_whole(const struct work *work)
{
	bool whole = true;

	for (size_t i = 0; i < work->count; i++)
		whole = whole && tpa_chunks_are_whole(tpa_trace_chunks(work->replays[i].trace));
	return whole;
}

/* Finds in the replayed calls what ends the steps of programs that mark none. True: it is known for some process. */
static bool found_steps(struct work *work, struct tpa_anchor *anchors)
{
	bool found = false;

	for (size_t i = 0; work->options->find_steps && are_whole(work) && i < work->count; i++) {
		tpa_replay_period(&work->replays[i], &anchors[i]);
		found = found || anchors[i].source;
	}
	return found;
}

/*
 * One pass. `anchors`: for each process, what ends its steps in the second pass. Returns NULL in the first pass if a second one
 * is needed for that.
 */
static struct tpa_run *replay_all(struct tpa_trace *const *traces, size_t count,
				  const struct tpa_replay_options *options, struct tpa_anchor *anchors, bool second)
{
	struct work work = { .options = options, .run = tpa_zalloc(1, sizeof(*work.run)) };
	struct chosen *chosen = choose(&work, traces, count);
	bool again;

	prepare(&work, chosen);
	for (size_t i = 0; second && i < work.count; i++)
		if (anchors[i].source)
			work.replays[i].steps.anchor = anchors[i];
	if (work.count == 1)
		replay_one(&work);
	else
		replay_many(&work);
	again = !second && found_steps(&work, anchors);
	if (!again)
		collect(&work);
	for (size_t i = 0; i < work.count; i++)
		tpa_replay_free(&work.replays[i]);
	tpa_resident_sum_free(work.resident);
	free(work.replays);
	free(work.begun);
	free(work.timeline.points);
	free(chosen);
	if (!again)
		return work.run;
	tpa_run_free(work.run);
	return NULL;
}

struct tpa_run *tpa_run_replay(struct tpa_trace *const *traces, size_t count, const struct tpa_replay_options *options)
{
	static const struct tpa_replay_options none;
	struct tpa_anchor *anchors = tpa_zalloc(count + 1, sizeof(*anchors));
	struct tpa_run *run;

	options = options ? options : &none;
	run = replay_all(traces, count, options, anchors, false);
	if (!run)
		run = replay_all(traces, count, options, anchors, true);
	free(anchors);
	return run;
}
