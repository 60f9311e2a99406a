/* SPDX-License-Identifier: Apache-2.0 */
/* The time of ops, by the lines that called them: shared out as the CPU samples in each op are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/file_lines.h"
#include "report/rows/row_index.h"

/* Samples in one op whose stacks have the line. */
struct share {
	struct tp_line line;
	uint32_t op;
	struct tp_cpu cpu;
};

struct sharing {
	struct tp_row_index index; /* by place and op */
	struct share *list;
	size_t count;
	struct tp_stack stack;
	struct tp_cpu *cpu; /* of all samples in an op; by its number */
	size_t ops;	    /* numbers are below this */
};

static size_t numbers(const struct tp_process *process)
{
	uint32_t most = 0;

	for (size_t i = 0; i < process->op_count; i++)
		most = process->ops[i].op > most ? process->ops[i].op : most;
	for (size_t i = 0; i < process->cpu_site_count; i++)
		most = process->cpu_sites[i].op > most ? process->cpu_sites[i].op : most;
	return (size_t)most + 1;
}

static bool add_line(struct sharing *sharing, const struct tp_line *line, const struct tp_cpu_site *site)
{
	const char *key = tp_keys_get(&sharing->index.keys, line, TP_KEY_PLACE);
	struct share *share =
		key ? tp_row_index_at(&sharing->index, (uintptr_t)key, site->op, &sharing->list, sizeof(*sharing->list))
		    : NULL;

	if (!share)
		return false;
	if (sharing->count < sharing->index.count) {
		sharing->count = sharing->index.count;
		*share = (struct share){ .line = *line, .op = site->op };
	}
	if (tp_row_index_once(&sharing->index, (size_t)(share - sharing->list)))
		tp_cpu_add(&share->cpu, &site->cpu);
	return true;
}

static bool add_sample(struct sharing *sharing, const struct tp_process *process, struct tp_symbols *symbols,
		       const struct tp_cpu_site *site)
{
	const struct tp_stack *stack = &sharing->stack;
	bool good;

	tp_row_index_next(&sharing->index);
	tp_cpu_add(&sharing->cpu[site->op], &site->cpu);
	good = tp_stack_read(&sharing->stack, process->trace, symbols, site->node);
	for (size_t i = 0; good && i < stack->last; i++)
		if (stack->lines[i].location->file)
			good = add_line(sharing, &stack->lines[i], site);
	return good;
}

/* As many samples of one period as these tell as much as. */
static double trials(const struct tp_cpu *cpu)
{
	return cpu->squares > 0 ? (double)cpu->periods * (double)cpu->periods / cpu->squares : 0;
}

/*
 * Intervals of a sum by those of its terms: the squares of their distances add up (Zou and Donner, Statistics in Medicine
 * 2008), which keeps it as lopsided as they are.
 */
static void give(struct tp_file_line *line, const struct share *share, const struct tp_op_stats *op,
		 const struct tp_cpu *all)
{
	double part = (double)share->cpu.periods / (double)all->periods, own = (double)op->self_ns;
	struct tp_interval interval = tp_interval_share(part * trials(all), trials(all));
	double below = own * (part - interval.low), above = own * (interval.high - part);
	double estimated = TP_NORMAL_95 * TP_NORMAL_95 * part * part * op->self_variance;

	line->op_ns += own * part;
	line->op_below += below * below + estimated;
	line->op_above += above * above + estimated;
}

static bool give_all(struct tp_file_lines *lines, const struct sharing *sharing, const struct tp_process *process)
{
	const struct tp_op_stats **ops = calloc(sharing->ops, sizeof(const struct tp_op_stats *));
	bool good = ops != NULL;

	for (size_t i = 0; good && i < process->op_count; i++) {
		const struct tp_op_stats *op = &process->ops[i];

		ops[op->op] = op;
		lines->ops_ns += (double)op->self_ns;
		if (!sharing->cpu[op->op].periods)
			lines->ops_unseen_ns += (double)op->self_ns;
	}
	for (size_t i = 0; good && i < sharing->count; i++) {
		const struct share *share = &sharing->list[i];
		struct tp_file_line *line = ops[share->op] ? tp_file_lines_at(lines, &share->line) : NULL;

		if (line)
			give(line, share, ops[share->op], &sharing->cpu[share->op]);
		good = line || !ops[share->op];
	}
	free(ops);
	return good;
}

bool tp_file_lines_add_ops(struct tp_file_lines *lines, const struct tp_process *process, struct tp_symbols *symbols)
{
	struct sharing sharing = { .ops = numbers(process) };
	bool good = tp_row_index_init(&sharing.index);

	sharing.cpu = calloc(sharing.ops, sizeof(*sharing.cpu));
	good = good && sharing.cpu;
	for (size_t i = 0; good && i < process->cpu_site_count; i++)
		if (process->cpu_sites[i].op)
			good = add_sample(&sharing, process, symbols, &process->cpu_sites[i]);
	good = good && give_all(lines, &sharing, process);
	tp_row_index_free(&sharing.index);
	tp_stack_free(&sharing.stack);
	free(sharing.list);
	free(sharing.cpu);
	return good;
}

struct tp_interval tp_file_line_op_interval(const struct tp_file_line *line)
{
	return (struct tp_interval){ fmax(line->op_ns - sqrt(line->op_below), 0), line->op_ns + sqrt(line->op_above) };
}
