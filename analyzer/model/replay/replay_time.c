/* SPDX-License-Identifier: Apache-2.0 */
/* When what was: pauses, marks, the timeline, the process's begin and end. */
#include <stdlib.h>

#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"

uint64_t tp_replay_ns(const struct tp_replay *replay, uint64_t time)
{
	return replay->start_ns + tp_trace_ns(replay->trace, time << replay->trace->header->tick_shift);
}

uint64_t tp_replay_end_ns(const struct tp_replay *replay)
{
	uint64_t last = tp_replay_ns(replay, replay->last);
	uint64_t end = replay->start_ns + tp_trace_ns(replay->trace, tp_trace_last(replay->trace));

	return end > last ? end : last;
}

/* ---- events ---- */

/* PAUSE and RESUME. A PAUSE may follow a PAUSE, and nothing need follow the last. */
void tp_replay_pause(struct tp_replay *replay, const struct tp_event *event)
{
	bool begins = event->kind == TP_EVENT_PAUSE;
	struct tp_step_moment moment;

	tp_replay_thread(replay, event);
	if (begins && !replay->pause.on) {
		replay->pause.count += replay->inside;
		replay->pause.began = event->time;
	} else if (!begins && replay->pause.on && replay->inside) {
		replay->pause.time += event->time - replay->pause.began;
		/* The step that goes on began in the pause, or before it. */
		moment = tp_replay_step_moment(replay, tp_replay_ns(replay, event->time));
		tp_steps_start(&replay->steps.steps, &moment);
	}
	replay->pause.on = begins;
}

bool tp_replay_began_in_pause(const struct tp_replay *replay, const struct tp_thread_state *thread, uint8_t fn)
{
	return replay->pause.on && thread->undo.what == TP_UNDO_UNMATCHED && tp_fn_reallocates(fn);
}

void tp_replay_mark(struct tp_replay *replay, const struct tp_event *event)
{
	tp_replay_thread(replay, event);
	if (tp_replay_counts(replay, event))
		tp_marks_add(&replay->marks, tp_replay_ns(replay, event->time), event->thread, event->mark.text,
			     event->mark.length);
}

/* ---- the part ---- */

static void init(struct tp_replay *replay)
{
	const struct tprof_header *header = replay->trace->header;

	tp_timeline_init(&replay->timeline, replay->options->timeline_points);
	replay->pause.on = header->flags & TPROF_FLAG_WAITED;
	replay->pause.began = header->start.ticks >> header->tick_shift;
}

static void archive(struct tp_archive *to, struct tp_replay *replay)
{
	TP_ARCHIVE(to, replay->inside);
	TP_ARCHIVE(to, replay->first);
	TP_ARCHIVE(to, replay->last);
	TP_ARCHIVE(to, replay->now);
	TP_ARCHIVE(to, replay->sum);
	TP_ARCHIVE(to, replay->pause);
	tp_timeline_archive(to, &replay->timeline);
	tp_marks_archive(to, &replay->marks);
}

/* A pause that goes on lasts to the end of the run. */
static uint64_t pause_ns(const struct tp_replay *replay, uint64_t duration_ns)
{
	const struct tp_trace *trace = replay->trace;
	uint64_t ticks = replay->pause.time << trace->header->tick_shift;
	uint64_t ns = tp_trace_ns(trace, trace->header->start.ticks + ticks), began;

	if (!replay->pause.on)
		return ns;
	began = tp_replay_ns(replay, replay->pause.began) - replay->start_ns;
	return ns + (duration_ns > began ? duration_ns - began : 0);
}

static void look_at_timeline(struct tp_replay *replay, struct tp_process *process)
{
	process->timeline = tp_timeline_finish(&replay->timeline, replay->last, &replay->now, &process->point_count);
	for (size_t i = 0; i < process->point_count; i++)
		process->timeline[i].time_ns = tp_replay_ns(replay, process->timeline[i].time_ns);
}

static void look(struct tp_replay *replay, struct tp_process *process)
{
	const struct tprof_header *header = replay->trace->header;
	uint64_t overhead = tp_cost_recording(replay->trace);

	process->trace = replay->trace;
	process->start_ns = replay->start_ns;
	process->duration_ns = tp_replay_end_ns(replay) - replay->start_ns;
	process->overhead_ns =
		tp_trace_ns(replay->trace, header->start.ticks + overhead) + tp_round(replay->ops.counters_cost_ns);
	process->off_at_start = header->flags & TPROF_FLAG_WAITED;
	process->pauses = replay->pause.count;
	process->paused_ns = pause_ns(replay, process->duration_ns);
	process->combined_peak_bytes = replay->sum.peak;
	process->combined_peak_variance = replay->sum.variance;
	look_at_timeline(replay, process);
	process->marks = replay->marks;
	replay->marks = (struct tp_marks){ NULL };
}

static void free_part(struct tp_replay *replay)
{
	free(replay->timeline.points);
	tp_marks_free(&replay->marks);
}

const struct tp_part tp_part_time = { .init = init, .archive = archive, .look = look, .free = free_part };
