/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up CPU samples. Unlike bytes, which are put down to the code that wanted them, CPU time is put down to the
 * code that spends it.
 */
#include "report/rows/cpu_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/stack_numbers.h"
#include "report/rows/row_index.h"

#define FRAMES_MAX 4096

struct tpa_cpu_builder {
	struct tpa_cpu_options options;
	struct tpa_cpu_rows *rows;
	struct tpa_row_index index;
	struct tpa_chains chains;   /* by stack */
	struct tpa_pairs functions; /* location to whether it is the function of the relation */
	struct tpa_stack stack;
	/* The site that is being added. */
	const struct tpa_cpu_site *site;
	const char *op;
	size_t process;
	uint64_t ns;
};

struct tpa_cpu_builder *tpa_cpu_rows_begin(const struct tpa_cpu_options *options)
{
	struct tpa_cpu_builder *builder = tpa_zalloc(1, sizeof(*builder));

	builder->options = *options;
	builder->rows = tpa_zalloc(1, sizeof(*builder->rows));
	tpa_row_index_init(&builder->index);
	tpa_chains_init(&builder->chains, true);
	return builder;
}

void tpa_cpu_rows_free(struct tpa_cpu_rows *rows)
{
	if (rows)
		free(rows->rows);
	free(rows);
}

/* Adds the site to the row of (key, kind): once to its total, and to its self if that is what ran. */
static void add(struct tpa_cpu_builder *builder, uint64_t key, uint64_t kind, const struct tpa_line *line, bool self)
{
	struct tpa_cpu_rows *rows = builder->rows;
	struct tpa_cpu_row *row = tpa_row_index_at(&builder->index, key, kind, &rows->rows, sizeof(*row));

	if (rows->count < builder->index.count) {
		rows->count = builder->index.count;
		*row = (struct tpa_cpu_row){ .process = builder->process,
					     .node = builder->site->node,
					     .thread = builder->site->thread,
					     .op = builder->op };
		if (line)
			row->line = *line;
	}
	if (tpa_row_index_once(&builder->index, (size_t)(row - rows->rows))) {
		tpa_cpu_add(&row->total, &builder->site->cpu);
		row->total_ns += builder->ns;
	}
	if (self) {
		tpa_cpu_add(&row->self, &builder->site->cpu);
		row->self_ns += builder->ns;
	}
}

static void add_line(struct tpa_cpu_builder *builder, const struct tpa_line *line, enum tpa_key kind, bool self)
{
	add(builder, tpa_row_index_line(&builder->index, line, kind), 0, line, self);
}

static void add_by_line(struct tpa_cpu_builder *builder)
{
	const struct tpa_stack *stack = &builder->stack;
	enum tpa_key kind = tpa_by_line_key(builder->options.by);

	if (!stack->last)
		add_line(builder, NULL, kind, true);
	for (size_t i = 0; i < stack->last; i++)
		add_line(builder, &stack->lines[i], kind, i == 0);
}

static void add_by_stack(struct tpa_cpu_builder *builder)
{
	const struct tpa_stack *stack = &builder->stack;

	add(builder, tpa_chains_number(&builder->chains, stack), stack->end == TPROF_NODE_CUT,
	    stack->last ? &stack->lines[0] : NULL, true);
}

/* Does the line have the wanted function, by its full name or by its name without parameters? */
static bool is_function(struct tpa_cpu_builder *builder, const struct tpa_line *line)
{
	const char *name = line->location->function, *wanted = builder->options.function;
	size_t length = strlen(wanted);
	bool found;
	uint32_t *known = tpa_pairs_at(&builder->functions, (uintptr_t)line->location, 0, &found);

	if (!found)
		*known = name && strncmp(name, wanted, length) == 0 && (!name[length] || name[length] == '(');
	return *known;
}

/*
 * For a sample in the op: returns the index of the line of the function that is the op, which the collector calls.
 * SIZE_MAX: no such line, because the program itself announced the op. An allocator's function that the collector
 * calls is no op.
 */
static size_t line_of_op(const struct tpa_cpu_builder *builder, const struct tpa_trace *trace)
{
	const struct tpa_stack *stack = &builder->stack;
	uint32_t frames[FRAMES_MAX], end;
	size_t count = tpa_trace_stack(trace, builder->site->node, frames, FRAMES_MAX, &end), line = 0;

	for (size_t i = 0; i < count && i < FRAMES_MAX; i++) {
		const struct tpa_module *module = trace->frames[frames[i]].module;

		if (line && module && module->collector && !stack->lines[line - 1].location->known.allocator)
			return line - 1;
		while (line < stack->last && stack->lines[line].frame == frames[i])
			line++;
	}
	return SIZE_MAX;
}

/* Adds the direct caller or callee of the function, for each place where the function is in the stack. */
static void add_relation(struct tpa_cpu_builder *builder, const struct tpa_trace *trace)
{
	const struct tpa_stack *stack = &builder->stack;
	bool callers = builder->options.relation == TPA_RELATION_CALLERS;
	bool met = builder->op && strcmp(builder->op, builder->options.function) == 0;
	size_t of_op = met ? line_of_op(builder, trace) : SIZE_MAX;

	for (size_t i = 0; i < stack->last; i++) {
		const struct tpa_line *other = NULL;

		if (i != of_op && !is_function(builder, &stack->lines[i]))
			continue;
		met = true;
		if (callers && i + 1 < stack->last)
			other = &stack->lines[i + 1];
		else if (!callers && i)
			other = &stack->lines[i - 1];
		add_line(builder, other, TPA_KEY_FUNCTION, false);
	}
	if (met) {
		tpa_cpu_add(&builder->rows->all, &builder->site->cpu);
		builder->rows->all_ns += builder->ns;
	}
}

static void add_site(struct tpa_cpu_builder *builder, const struct tpa_process *process, struct tpa_symbols *symbols)
{
	const struct tpa_cpu_options *options = &builder->options;

	tpa_row_index_next(&builder->index);
	if (!options->relation) {
		tpa_cpu_add(&builder->rows->all, &builder->site->cpu);
		builder->rows->all_ns += builder->ns;
	}
	if (options->relation || options->filter || (options->by != TPA_BY_THREAD && options->by != TPA_BY_OP)) {
		tpa_stack_read(&builder->stack, process->trace, symbols, builder->site->node);
		if (options->filter && !tpa_row_index_matches(&builder->index, &builder->stack, options->filter))
			return;
	}
	if (options->relation)
		add_relation(builder, process->trace);
	else if (options->by == TPA_BY_THREAD)
		add(builder, builder->site->thread, builder->process + 1, NULL, true);
	else if (options->by == TPA_BY_OP)
		add(builder, tpa_row_index_op(&builder->index, builder->op), 0, NULL, true);
	else if (options->by == TPA_BY_STACK)
		add_by_stack(builder);
	else
		add_by_line(builder);
}

void tpa_cpu_rows_add(struct tpa_cpu_builder *builder, const struct tpa_process *process, size_t index,
		      struct tpa_symbols *symbols)
{
	builder->process = index;
	for (size_t i = 0; i < process->cpu_site_count; i++) {
		builder->site = &process->cpu_sites[i];
		builder->op = tpa_process_op_name(process, builder->site->op);
		builder->ns = tpa_cpu_ns(process, &builder->site->cpu);
		add_site(builder, process, symbols);
	}
}

static int compare(const void *left, const void *right, void *context)
{
	const struct tpa_cpu_row *a = left, *b = right;
	bool by_total = *(const bool *)context;
	uint64_t x = by_total ? a->total.periods : a->self.periods, y = by_total ? b->total.periods : b->self.periods;

	if (x == y)
		x = by_total ? a->self.periods : a->total.periods, y = by_total ? b->self.periods : b->total.periods;
	/* Equal rows have the same order in every run of the analyzer. */
	return TPA_DOWN(x, y) ?: tpa_row_names_compare(&a->line, a->op, &b->line, b->op) ?:
	       TPA_UP(a->process, b->process) ?: TPA_UP(a->thread, b->thread) ?: TPA_UP(a->node, b->node);
}

struct tpa_cpu_rows *tpa_cpu_rows_end(struct tpa_cpu_builder *builder)
{
	struct tpa_cpu_rows *rows = builder->rows;
	bool by_total = builder->options.by_total || builder->options.relation;

	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare, &by_total);
	tpa_row_index_free(&builder->index);
	tpa_chains_free(&builder->chains);
	tpa_pairs_free(&builder->functions);
	tpa_stack_free(&builder->stack);
	free(builder);
	return rows;
}

double tpa_cpu_share(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part)
{
	return rows->all.periods ? (double)part->periods / (double)rows->all.periods : 0;
}

struct tpa_interval tpa_cpu_interval(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part)
{
	double periods = (double)rows->all.periods;
	double trials = rows->all.squares > 0 ? periods * periods / rows->all.squares : 0;

	return tpa_interval_share(tpa_cpu_share(rows, part) * trials, trials);
}
