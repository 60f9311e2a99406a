/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples. */
#include "model/replay/replay_impl.h"

void tpa_replay_sample(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_cpu one = { 1, event->sample.periods,
			       (double)event->sample.periods * (double)event->sample.periods };
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	struct tpa_cpu_site where;

	if (!tpa_replay_counts(replay, event))
		return;
	tpa_cpu_add(&thread->stats.cpu, &one);
	replay->cpu.periods += event->sample.periods;
	where = (struct tpa_cpu_site){ .node = tpa_event_node(replay->trace, event),
				       .thread = event->thread,
				       .op = tpa_op_current(&thread->open) };
	if (!where.op)
		tpa_cpu_add(&replay->cpu.outside, &one);
	tpa_cpu_count(&replay->cpu.sites, &where, event->sample.periods);
}

static void init(struct tpa_replay *replay)
{
	tpa_cpu_init(&replay->cpu.sites);
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	TPA_ARCHIVE(to, replay->cpu.outside);
	TPA_ARCHIVE(to, replay->cpu.periods);
	tpa_cpu_archive(to, &replay->cpu.sites);
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	process->cpu_outside = replay->cpu.outside;
	process->cpu_sites = tpa_cpu_result(&replay->cpu.sites, &process->cpu_site_count);
}

static void free_part(struct tpa_replay *replay)
{
	tpa_cpu_free(&replay->cpu.sites);
}

const struct tpa_part tpa_part_cpu = { .init = init, .archive = archive, .look = look, .free = free_part };
