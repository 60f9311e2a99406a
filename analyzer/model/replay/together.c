/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/together.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/queue.h"
#include "model/replay/resident_sum.h"
#include "trace/checkpoint.h"

/* A process. */
struct member {
	struct tpa_changes *seen;
	bool begun;	       /* it counts among the living, or has ended */
	bool ended;	       /* it has left the sum */
	bool waits;	       /* it was killed, and is taken to live until a child ends that never saw it gone */
	uint64_t number, peak; /* live bytes at the run's peak of that number */
	double variance;
};

struct work {
	const struct tpa_replay_options *options;
	struct tpa_run *run;
	struct member *members;
	size_t count;
	struct tpa_reading reading; /* of the change that is made */

	/* Of all processes together. */
	struct tpa_point now;
	struct tpa_timeline timeline;
	struct tpa_resident_sum *resident;
	uint64_t peak_number, last_ns;
	size_t living;
	bool inside; /* `from` has been reached */
};

static size_t index_of(const struct work *work, const struct member *member)
{
	return (size_t)(member - work->members);
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
static bool begin_change(struct work *work, struct member *member, uint64_t time_ns)
{
	const struct tpa_point *now = &work->now;

	/* The process has not changed since the last peaks of the sum, so its state then is its present one. */
	if (member->number != work->peak_number) {
		member->number = work->peak_number;
		member->peak = member->seen->now.live_bytes;
		member->variance = member->seen->now.bytes_variance;
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
static void note_change(struct work *work, struct member *member, const struct tpa_point *before, uint64_t time_ns,
			bool inside)
{
	struct tpa_point *now = &work->now;
	size_t index = index_of(work, member);

	change_sum(work, before, &member->seen->now, time_ns);
	if (tpa_resident_sum_changed(work->resident, index, before)) {
		tpa_resident_sum_update(work->resident, index, &work->reading, time_ns);
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

static void begin_one(struct work *work, struct member *member)
{
	if (member->begun)
		return;
	member->begun = true;
	work->living++;
	if (work->inside && work->living > work->run->most_at_once)
		work->run->most_at_once = work->living;
}

/* Makes the next change of one process, and updates the sum. */
static void step(struct work *work, struct member *member, uint64_t time_ns)
{
	struct tpa_point before = member->seen->now;
	bool inside = begin_change(work, member, time_ns);

	begin_one(work, member);
	tpa_changes_step(member->seen, &work->reading);
	note_change(work, member, &before, time_ns, inside);
}

/* The process ends: the sum goes on without all that it held. */
static void end_of_one(struct work *work, struct member *member, uint64_t time_ns)
{
	begin_change(work, member, time_ns);
	change_sum(work, &member->seen->now, &nothing, time_ns);
	tpa_resident_sum_end(work->resident, index_of(work, member));
	work->now.rss = tpa_resident_sum_now(work->resident)->rss;
	work->living--;
	member->ended = true;
}

/* Whether the process was killed: the time of its end is not in its trace. */
static bool is_killed(const struct member *member)
{
	return member->seen->trace->header->end == TPROF_END_NONE && !member->seen->trace->running;
}

static bool is_child(const struct tprof_header *child, const struct tprof_header *parent)
{
	return child->ppid == parent->pid && child->pid_namespace == parent->pid_namespace &&
	       child->start.mono_ns >= parent->start.mono_ns && child->parent_seen_ns >= child->start.mono_ns;
}

/* When a child last saw the process: a parent that waits for its children records no events. */
static uint64_t seen_by_children(const struct work *work, const struct member *parent)
{
	uint64_t last = 0;

	for (size_t i = 0; i < work->count; i++) {
		const struct tprof_header *child = work->members[i].seen->trace->header;
		uint64_t seen;

		if (!is_child(child, parent->seen->trace->header))
			continue;
		seen = work->members[i].seen->start_ns + (child->parent_seen_ns - child->start.mono_ns);
		last = seen > last ? seen : last;
	}
	return last;
}

/* Whether a child that has not ended in the replay never saw the process gone. */
static bool outlives_a_child(const struct work *work, const struct member *parent)
{
	for (size_t i = 0; i < work->count; i++) {
		const struct tprof_header *child = work->members[i].seen->trace->header;

		if (!work->members[i].ended && &work->members[i] != parent &&
		    is_child(child, parent->seen->trace->header) && child->parent_seen_ns == child->latest.mono_ns)
			return true;
	}
	return false;
}

/*
 * Pushes the process's next change or, after the last one, its end. A process that runs, or whose end lies after `to`, has no
 * end. Ends come before events of the same time.
 */
static void push_next(const struct work *work, struct tpa_queue *queue, struct member *member, uint64_t not_before)
{
	const struct tpa_changes *changes = member->seen;
	uint64_t number = index_of(work, member), key = changes->more ? changes->time_ns : changes->end_ns;

	if (!changes->more && is_killed(member)) {
		uint64_t seen = seen_by_children(work, member);

		key = seen > key ? seen : key;
	}
	key = not_before > key ? not_before : key;
	if (changes->more)
		number += work->count;
	else if (changes->trace->running || changes->cut || (work->options->to_ns && key > work->options->to_ns))
		return;
	tpa_queue_push(queue, key, number, member);
}

/* Handles an end that has come. Parents that were only known to live as long as this process may end with it. */
static void take_end(struct work *work, struct tpa_queue *queue, struct member *member, uint64_t time_ns)
{
	member->waits = is_killed(member) && outlives_a_child(work, member);
	if (member->waits || !queue->count)
		return; /* the last point of the timeline is what the last processes held when the run ended */
	end_of_one(work, member, time_ns);
	for (size_t i = 0; i < work->count; i++) {
		struct member *parent = &work->members[i];

		if (!parent->waits || !is_child(member->seen->trace->header, parent->seen->trace->header))
			continue;
		parent->waits = false;
		push_next(work, queue, parent, time_ns);
	}
}

static void merge(struct work *work)
{
	struct tpa_queue queue = { .items = tpa_zalloc(work->count, sizeof(*queue.items)) };

	for (size_t i = 0; i < work->count; i++)
		if (work->members[i].seen->more)
			push_next(work, &queue, &work->members[i], 0);
	while (queue.count) {
		struct tpa_queue_item item = queue.items[0];
		struct member *member = item.what;

		if (!member->seen->more) {
			tpa_queue_drop_first(&queue);
			take_end(work, &queue, member, item.key);
			continue;
		}
		step(work, member, item.key);
		if (member->seen->more) {
			queue.items[0].key = member->seen->time_ns;
			tpa_queue_sink(&queue);
		} else {
			tpa_queue_drop_first(&queue);
			push_next(work, &queue, member, 0);
		}
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

static void collect(struct work *work)
{
	struct tpa_run *run = work->run;
	bool read = false;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct member *member = &work->members[i];

		if (member->number != work->peak_number) {
			member->peak = member->ended ? 0 : member->seen->now.live_bytes;
			member->variance = member->ended ? 0 : member->seen->now.bytes_variance;
		}
		run->processes[i].combined_peak_bytes = member->peak;
		run->processes[i].combined_peak_variance = member->variance;
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

void tpa_together(struct tpa_run *run, struct tpa_changes *changes, const size_t *parents,
		  const struct tpa_replay_options *options)
{
	size_t count = run->process_count;
	struct work work = { .options = options, .run = run, .count = count };

	work.members = tpa_zalloc(count, sizeof(*work.members));
	work.resident = tpa_resident_sum_new(changes, parents, count);
	tpa_timeline_init(&work.timeline, options->timeline_points);
	for (size_t i = 0; i < count; i++) {
		tpa_changes_open(&changes[i]);
		work.members[i].seen = &changes[i];
	}
	merge(&work);
	for (size_t i = 0; i < count; i++)
		tpa_resident_sum_result(work.resident, i, &run->processes[i]);
	collect(&work);
	tpa_resident_sum_free(work.resident);
	free(work.timeline.points);
	free(work.reading.regions);
	free(work.reading.ranges);
	free(work.members);
}
