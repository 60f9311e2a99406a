/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of recording, in a trace with header.max_overhead. */
#include "base/memory.h"
#include "model/replay/replay_impl.h"

/* Ticks since the last change of the level, without those before the time that is looked at. */
static uint64_t lasted(const struct tpa_replay *replay, uint64_t time)
{
	return tpa_replay_ticks(replay, tpa_levels_lasted(&replay->levels, time));
}

void tpa_replay_level(struct tpa_replay *replay, const struct tpa_event *event)
{
	uint64_t ticks = lasted(replay, event->time);

	tpa_replay_thread(replay, event);
	if (!replay->trace->header->max_overhead) /* damage */
		return;
	if (event->level.mean)
		tpa_estimates_sampled(&replay->heap.estimates, event->level.mean);
	if (!tpa_levels_change(&replay->levels, event->time, event->level.mean, event->level.ops))
		return;
	tpa_ops_pass(&replay->ops.calls, ticks);
	tpa_ops_record(&replay->ops.calls, event->level.ops);
}

/* The event time at which the last level ends: with the process, or with the time that is looked at. */
static uint64_t end_of(const struct tpa_replay *replay)
{
	uint64_t last = tpa_trace_last(replay->trace) >> replay->trace->header->tick_shift;
	uint64_t end = last > replay->last ? last : replay->last;

	return end < replay->to && !replay->cut ? end : replay->to;
}

/* Event times to nanoseconds of their difference. */
static uint64_t lasted_ns(const struct tpa_replay *replay, uint64_t time)
{
	const struct tpa_trace *trace = replay->trace;

	return tpa_trace_ns(trace, trace->header->start.ticks + (time << trace->header->tick_shift));
}

static void add_time(struct tpa_level_stats *stats, uint64_t ns, uint8_t mean, bool ops)
{
	if (!ns)
		return;
	stats->times[stats->time_count++] = (struct tpa_level_time){ ns, mean, ops };
	stats->time_ns += ns;
	stats->ops_ns += ops ? ns : 0;
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_levels *levels = &replay->levels;
	struct tpa_level_stats *stats = &process->levels;

	if (!replay->trace->header->max_overhead)
		return;
	tpa_ops_pass(&replay->ops.calls, lasted(replay, end_of(replay)));
	tpa_ops_end_spans(&replay->ops.calls);
	tpa_levels_end(levels, end_of(replay));
	stats->spans = tpa_copy(levels->list, levels->count * sizeof(*stats->spans));
	stats->span_count = levels->count;
	for (size_t i = 0; i < stats->span_count; i++) {
		stats->spans[i].from = tpa_replay_ns(replay, stats->spans[i].from);
		stats->spans[i].to = tpa_replay_ns(replay, stats->spans[i].to);
	}
	stats->times = tpa_zalloc(2 * (TPA_MEAN_MOST + 1), sizeof(*stats->times));
	for (uint8_t mean = 0; mean <= TPA_MEAN_MOST; mean++) {
		add_time(stats, lasted_ns(replay, levels->time[mean][true]), mean, true);
		add_time(stats, lasted_ns(replay, levels->time[mean][false]), mean, false);
	}
}

static void init(struct tpa_replay *replay)
{
	const struct tprof_header *header = replay->trace->header;

	tpa_levels_init(&replay->levels, header->start.ticks >> header->tick_shift, replay->from);
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	if (replay->trace->header->max_overhead)
		tpa_levels_archive(to, &replay->levels);
}

const struct tpa_part tpa_part_levels = { .init = init, .archive = archive, .look = look };
