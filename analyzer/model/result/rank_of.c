/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/rank_of.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Does what a launcher has set name the same rank of the same job? */
static bool is_same_rank(const struct tpa_rank_process *a, const struct tpa_rank_process *b)
{
	return a->world_rank == b->world_rank && is_same_text(a->job, b->job);
}

static bool has_number(const struct tpa_rank_process *ranks)
{
	return (ranks->joined || ranks->launcher) && ranks->world_rank != TPA_COMM_UNKNOWN;
}

/* Could it be the rank to which its launcher's variables belong, if no process has joined as that rank? */
static bool may_be_rank(const struct tpa_process *process)
{
	const struct tprof_header *header = process->trace->header;

	return header->origin != TPROF_ORIGIN_FORK && header->end != TPROF_END_EXEC;
}

static bool is_rank(const struct tpa_run *run, size_t index)
{
	const struct tpa_process *own = &run->processes[index];

	if (own->ranks.joined)
		return true;
	if (!may_be_rank(own))
		return false;
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *other = &run->processes[i];

		if (i == index || !has_number(&other->ranks) || !is_same_rank(&own->ranks, &other->ranks))
			continue;
		if (other->ranks.joined)
			return false;
		if (may_be_rank(other) && (other->heap.peak_bytes > own->heap.peak_bytes ||
					   (other->heap.peak_bytes == own->heap.peak_bytes && i < index)))
			return false;
	}
	return true;
}

static bool is_same_machine(const struct tprof_header *a, const struct tprof_header *b)
{
	return a->pid_namespace == b->pid_namespace && memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

/* The index of the process that started the one at `index`, always a lower one; `index`: it is not in the run. */
static size_t starter_of(const struct tpa_run *run, size_t index)
{
	const struct tprof_header *own = run->processes[index].trace->header;

	for (size_t i = index; i-- > 0;) {
		const struct tprof_header *other = run->processes[i].trace->header;

		if ((other->pid == own->ppid || other->pid == own->pid) && is_same_machine(own, other))
			return i;
	}
	return index;
}

static bool has_several(const struct tpa_rank_of *list, size_t count)
{
	uint32_t first = TPA_COMM_UNKNOWN;

	for (size_t i = 0; i < count; i++) {
		if (!list[i].is_rank)
			continue;
		if (first != TPA_COMM_UNKNOWN && list[i].number != first)
			return true;
		first = list[i].number;
	}
	return false;
}

struct tpa_rank_of *tpa_rank_of_each(const struct tpa_run *run)
{
	struct tpa_rank_of *list = tpa_zalloc(run->process_count + 1, sizeof(*list));

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_rank_process *ranks = &run->processes[i].ranks;
		size_t starter;

		list[i].number = has_number(ranks) ? ranks->world_rank : TPA_COMM_UNKNOWN;
		list[i].is_rank = has_number(ranks) && is_rank(run, i);
		if (has_number(ranks))
			continue;
		starter = starter_of(run, i);
		if (starter < i)
			list[i].number = list[starter].number;
	}
	if (!has_several(list, run->process_count))
		for (size_t i = 0; i < run->process_count; i++)
			list[i] = (struct tpa_rank_of){ .number = TPA_COMM_UNKNOWN };
	return list;
}
