/* SPDX-License-Identifier: Apache-2.0 */
/* Times: pauses, marks, the timeline, the process's begin and end. */
#include <stdlib.h>

#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"

uint64_t tpa_replay_ns(const struct tpa_replay *replay, uint64_t time)
{
	return tpa_replay_ticks_ns(replay, tpa_replay_ticks(replay, time));
}

uint64_t tpa_replay_ticks_ns(const struct tpa_replay *replay, uint64_t ticks)
{
	return replay->start_ns + tpa_trace_ns(replay->trace, ticks);
}

uint64_t tpa_replay_end_ns(const struct tpa_replay *replay)
{
	uint64_t last = tpa_replay_ns(replay, replay->last);
	uint64_t end = replay->start_ns + tpa_trace_ns(replay->trace, tpa_trace_last(replay->trace));

	return end > last ? end : last;
}

/* ---- events ---- */

/* PAUSE and RESUME. A PAUSE may follow a PAUSE, and the last may have no RESUME. */
void tpa_replay_pause(struct tpa_replay *replay, const struct tpa_event *event)
{
	bool begins = event->kind == TPA_EVENT_PAUSE;
	struct tpa_step_moment moment;

	tpa_replay_thread(replay, event);
	if (begins && !replay->pause.on) {
		replay->pause.count += replay->inside;
		replay->pause.began = event->time;
	} else if (!begins && replay->pause.on && replay->inside) {
		replay->pause.time += event->time - replay->pause.began;
		/* the current step began in the pause or before it */
		moment = tpa_replay_step_moment(replay, tpa_replay_ticks(replay, event->time));
		tpa_steps_start(&replay->steps.steps, &moment);
	}
	replay->pause.on = begins;
}

bool tpa_replay_began_in_pause(const struct tpa_replay *replay, const struct tpa_thread_state *thread, uint8_t fn)
{
	return replay->pause.on && thread->undo.what == TPA_UNDO_UNMATCHED && tpa_fn_reallocates(fn);
}

void tpa_replay_mark(struct tpa_replay *replay, const struct tpa_event *event)
{
	tpa_replay_thread(replay, event);
	if (tpa_replay_counts(replay, event))
		tpa_marks_add(&replay->marks, event->time, event->thread, event->mark.text, event->mark.length);
}

/* ---- the part ---- */

static void init(struct tpa_replay *replay)
{
	const struct tprof_header *header = replay->trace->header;

	tpa_timeline_init(&replay->timeline, replay->options->timeline_points);
	replay->pause.on = header->flags & TPROF_FLAG_WAITED;
	replay->pause.began = header->start.ticks >> header->tick_shift;
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	uint64_t unused[4] = { 0 }; /* states of earlier versions have the sums over all processes here */

	TPA_ARCHIVE(to, replay->inside);
	TPA_ARCHIVE(to, replay->first);
	TPA_ARCHIVE(to, replay->last);
	TPA_ARCHIVE(to, replay->now);
	TPA_ARCHIVE(to, unused);
	TPA_ARCHIVE(to, replay->pause);
	tpa_timeline_archive(to, &replay->timeline);
	tpa_marks_archive(to, &replay->marks);
}

/* A pause that goes on lasts to the end of the run. */
static uint64_t pause_ns(const struct tpa_replay *replay, uint64_t duration_ns)
{
	const struct tpa_trace *trace = replay->trace;
	uint64_t ticks = replay->pause.time << trace->header->tick_shift;
	uint64_t ns = tpa_trace_ns(trace, trace->header->start.ticks + ticks), began;

	if (!replay->pause.on)
		return ns;
	began = tpa_replay_ns(replay, replay->pause.began) - replay->start_ns;
	return ns + (duration_ns > began ? duration_ns - began : 0);
}

static void look_at_timeline(struct tpa_replay *replay, struct tpa_process *process)
{
	process->timeline = tpa_timeline_finish(&replay->timeline, replay->last, &replay->now, &process->point_count);
	for (size_t i = 0; i < process->point_count; i++)
		process->timeline[i].time_ns = tpa_replay_ns(replay, process->timeline[i].time_ns);
}

/* An attached program's recording begins once all is hooked, and is paused last when the hooks are taken back. */
static void find_pauses(const struct tpa_replay *replay, struct tpa_process *process)
{
	const struct tprof_header *header = replay->trace->header;
	bool attached = header->flags & TPROF_FLAG_ATTACHED;

	process->off_at_start = header->flags & TPROF_FLAG_WAITED && !attached;
	process->pauses = replay->pause.count - (header->end == TPROF_END_DETACHED && replay->pause.count);
	process->paused_ns = attached && !process->pauses ? 0 : pause_ns(replay, process->duration_ns);
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	const struct tprof_header *header = replay->trace->header;
	uint64_t overhead = tpa_cost_recording(replay->trace);

	process->trace = replay->trace;
	process->start_ns = replay->start_ns;
	process->duration_ns = tpa_replay_end_ns(replay) - replay->start_ns;
	process->overhead_ns = tpa_trace_ns(replay->trace, header->start.ticks + overhead) +
			       tpa_round(replay->ops.counters_cost * tpa_trace_tick_ns(replay->trace));
	find_pauses(replay, process);
	look_at_timeline(replay, process);
	for (size_t i = 0; i < replay->marks.count; i++)
		replay->marks.list[i].time_ns = tpa_replay_ns(replay, replay->marks.list[i].time_ns);
	process->marks = replay->marks;
	replay->marks = (struct tpa_marks){ NULL };
}

static void free_part(struct tpa_replay *replay)
{
	free(replay->timeline.points);
	tpa_marks_free(&replay->marks);
}

const struct tpa_part tpa_part_time = { .init = init, .archive = archive, .look = look, .free = free_part };
