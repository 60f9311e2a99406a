/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples. */
#include "model/replay/replay_impl.h"

void tp_replay_sample(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_cpu one = { 1, event->sample.periods, (double)event->sample.periods * (double)event->sample.periods };
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_cpu_site where;

	if (!tp_replay_counts(replay, event))
		return;
	tp_cpu_add(&thread->stats.cpu, &one);
	replay->cpu.periods += event->sample.periods;
	where = (struct tp_cpu_site){ .node = tp_trace_node(replay->trace, event->node),
				      .thread = event->thread,
				      .op = tp_op_current(&thread->open) };
	if (!where.op)
		tp_cpu_add(&replay->cpu.outside, &one);
	tp_cpu_count(&replay->cpu.sites, &where, event->sample.periods);
}

static void init(struct tp_replay *replay)
{
	tp_cpu_init(&replay->cpu.sites);
}

static void archive(struct tp_archive *to, struct tp_replay *replay)
{
	TP_ARCHIVE(to, replay->cpu.outside);
	TP_ARCHIVE(to, replay->cpu.periods);
	tp_cpu_archive(to, &replay->cpu.sites);
}

static void look(struct tp_replay *replay, struct tp_process *process)
{
	process->cpu_outside = replay->cpu.outside;
	process->cpu_sites = tp_cpu_result(&replay->cpu.sites, &process->cpu_site_count);
}

static void free_part(struct tp_replay *replay)
{
	tp_cpu_free(&replay->cpu.sites);
}

const struct tp_part tp_part_cpu = { .init = init, .archive = archive, .look = look, .free = free_part };
