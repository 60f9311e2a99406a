/* SPDX-License-Identifier: Apache-2.0 */
/* The time of ops by the lines that called them: each op's time is divided in proportion to its CPU samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/file_lines.h"
#include "report/rows/row_index.h"

/* The samples in one op whose stacks have the line. */
struct share {
	struct tpa_line line;
	uint32_t op;
	struct tpa_cpu cpu;
};

struct sharing {
	struct tpa_row_index index; /* by place and op */
	struct share *list;
	size_t count;
	struct tpa_stack stack;
	struct tpa_cpu *cpu; /* all samples in an op, by the op's number */
	size_t ops;	     /* all op numbers are below it */
};

static size_t numbers(const struct tpa_process *process)
{
	uint32_t most = 0;

	for (size_t i = 0; i < process->op_count; i++)
		most = process->ops[i].op > most ? process->ops[i].op : most;
	for (size_t i = 0; i < process->cpu_site_count; i++)
		most = process->cpu_sites[i].op > most ? process->cpu_sites[i].op : most;
	return (size_t)most + 1;
}

static void add_line(struct sharing *sharing, const struct tpa_line *line, const struct tpa_cpu_site *site)
{
	struct share *share =
		tpa_row_index_at(&sharing->index, tpa_row_index_line(&sharing->index, line, TPA_KEY_PLACE), site->op,
				 &sharing->list, sizeof(*sharing->list));

	if (sharing->count < sharing->index.count) {
		sharing->count = sharing->index.count;
		*share = (struct share){ .line = *line, .op = site->op };
	}
	if (tpa_row_index_once(&sharing->index, (size_t)(share - sharing->list)))
		tpa_cpu_add(&share->cpu, &site->cpu);
}

static void add_sample(struct sharing *sharing, const struct tpa_process *process, struct tpa_symbols *symbols,
		       const struct tpa_cpu_site *site)
{
	const struct tpa_stack *stack = &sharing->stack;

	tpa_row_index_next(&sharing->index);
	tpa_cpu_add(&sharing->cpu[site->op], &site->cpu);
	tpa_stack_read(&sharing->stack, process->trace, symbols, site->node);
	for (size_t i = 0; i < stack->last; i++)
		if (stack->lines[i].location->file)
			add_line(sharing, &stack->lines[i], site);
}

/* The effective number of independent samples (Kish 1965). */
static double trials(const struct tpa_cpu *cpu)
{
	return cpu->squares > 0 ? (double)cpu->periods * (double)cpu->periods / cpu->squares : 0;
}

/*
 * Adds a line's share of an op's time. The interval of a sum comes from the intervals of its terms: the squares of
 * the distances from the value to its ends add up (Zou and Donner, Statistics in Medicine 2008), which keeps the
 * interval as asymmetric as those of the terms.
 */
static void give(struct tpa_file_line *line, const struct share *share, const struct tpa_op_stats *op,
		 const struct tpa_cpu *all)
{
	double part = (double)share->cpu.periods / (double)all->periods, own = (double)op->self_ns;
	struct tpa_interval interval = tpa_interval_share(part * trials(all), trials(all));
	double below = own * (part - interval.low), above = own * (interval.high - part);
	double estimated = TPA_NORMAL_95 * TPA_NORMAL_95 * part * part * op->self_variance;

	line->op_ns += own * part;
	line->op_below += below * below + estimated;
	line->op_above += above * above + estimated;
}

static void give_all(struct tpa_file_lines *lines, const struct sharing *sharing, const struct tpa_process *process)
{
	const struct tpa_op_stats **ops = tpa_zalloc(sharing->ops, sizeof(const struct tpa_op_stats *));

	for (size_t i = 0; i < process->op_count; i++) {
		const struct tpa_op_stats *op = &process->ops[i];

		ops[op->op] = op;
		lines->ops_ns += (double)op->self_ns;
		if (!sharing->cpu[op->op].periods)
			lines->ops_unseen_ns += (double)op->self_ns;
	}
	for (size_t i = 0; i < sharing->count; i++) {
		const struct share *share = &sharing->list[i];

		if (ops[share->op])
			give(tpa_file_lines_at(lines, &share->line), share, ops[share->op], &sharing->cpu[share->op]);
	}
	free(ops);
}

void tpa_file_lines_add_ops(struct tpa_file_lines *lines, const struct tpa_process *process,
			    struct tpa_symbols *symbols)
{
	struct sharing sharing = { .ops = numbers(process) };

	tpa_row_index_init(&sharing.index);
	sharing.cpu = tpa_zalloc(sharing.ops, sizeof(*sharing.cpu));
	for (size_t i = 0; i < process->cpu_site_count; i++)
		if (process->cpu_sites[i].op)
			add_sample(&sharing, process, symbols, &process->cpu_sites[i]);
	give_all(lines, &sharing, process);
	tpa_row_index_free(&sharing.index);
	tpa_stack_free(&sharing.stack);
	free(sharing.list);
	free(sharing.cpu);
}

struct tpa_interval tpa_file_line_op_interval(const struct tpa_file_line *line)
{
	return (struct tpa_interval){ fmax(line->op_ns - sqrt(line->op_below), 0), line->op_ns + sqrt(line->op_above) };
}
