/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/cpu_listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/name.h"
#include "report/text/op_cells.h"

void tp_cpu_print_capture(const struct tp_page *page, const struct tp_process *process)
{
	const struct tprof_header *header = process->trace->header;
	const struct tp_cpu *cpu = &process->cpu;

	if (!header->cpu_period_ns && !cpu->samples) {
		fputs("CPU sampling was off", page->out);
		return;
	}
	fprintf(page->out, "%s in %s sample%s, one per %s of a thread's CPU time",
		tp_time(tp_cpu_ns(process, cpu)).text, tp_count(cpu->samples).text, tp_plural(cpu->samples),
		tp_time(header->cpu_period_ns).text);
	if (cpu->periods > cpu->samples)
		fprintf(page->out, " (%s came late and count more)", tp_count(cpu->periods - cpu->samples).text);
	if (process->op_count && cpu->periods)
		fprintf(page->out, "; %s of it outside of every op",
			tp_percent(process->cpu_outside.periods, cpu->periods).text);
	if (header->cpu_stopped)
		tp_print(page, TP_STYLE_WARN, "; sampling was stopped: the program uses the signal itself");
}

/* ---- text ---- */

static struct tp_text share_text(double share)
{
	struct tp_text text;

	if (share > 0 && share < 0.0005)
		snprintf(text.text, sizeof(text.text), "<0.1%%");
	else
		snprintf(text.text, sizeof(text.text), "%.1f%%", 100 * share);
	return text;
}

static struct tp_text interval_text(const struct tp_cpu_rows *rows, const struct tp_cpu *part)
{
	struct tp_interval interval = tp_cpu_interval(rows, part);
	struct tp_text text;

	snprintf(text.text, sizeof(text.text), "%.1f-%.1f%%", 100 * interval.low, 100 * interval.high);
	return text;
}

static const struct tp_thread_stats *thread_of(const struct tp_process *process, uint32_t thread)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].thread == thread)
			return &process->threads[i];
	return NULL;
}

static void thread_cells(struct tp_table *table, const struct tp_process *process, uint32_t number)
{
	const struct tp_thread_stats *thread = thread_of(process, number);
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	tp_table_add(table, TP_STYLE_FUNCTION, text);
	snprintf(text, sizeof(text), "%.31s (tid %" PRIu32 ")", thread ? thread->name : "", thread ? thread->tid : 0);
	tp_table_add(table, TP_STYLE_DIM, text);
}

/* Of a row without a line. */
static const char *no_line(const struct tp_cpu_listing *context)
{
	switch (context->options.relation) {
	case TP_RELATION_CALLERS:
		return "(called by nothing that is known)";
	case TP_RELATION_CALLEES:
		return "(the function itself)";
	default:
		return "(stack not recorded)";
	}
}

static void name_cells(const struct tp_cpu_listing *context, const struct tp_cpu_row *row, struct tp_table *table)
{
	const struct tp_process *process = &context->run->processes[row->process];
	enum tp_by by = context->options.relation ? TP_BY_FUNCTION : context->options.by;
	const struct tp_line *line = &row->line;
	char place[1024], shorter[1200];
	const char *name;

	if (by == TP_BY_THREAD) {
		thread_cells(table, process, row->thread);
		return;
	}
	if (by == TP_BY_OP) {
		tp_op_name_cell(table, context->page, row->op ? row->op : "(outside of every op)", 0);
		return;
	}
	if (!line->location) {
		tp_table_add(table, TP_STYLE_DIM, no_line(context));
		if (by != TP_BY_MODULE)
			tp_table_add(table, TP_STYLE_DIM, "");
		return;
	}
	if (by == TP_BY_MODULE) {
		tp_table_add(table, TP_STYLE_FUNCTION, line->symbol->path[0] ? line->symbol->path : "(no module)");
		return;
	}
	name = line->location->function
		       ? tp_short_name(context->page, line->location->function, 70, shorter, sizeof(shorter))
		       : "(no name)";
	if (by == TP_BY_LINE) {
		tp_table_add(table, TP_STYLE_FUNCTION, tp_line_place(line, process->trace->cwd, place, sizeof(place)));
		tp_table_add(table, TP_STYLE_DIM, name);
		return;
	}
	tp_table_add(table, TP_STYLE_FUNCTION, name);
	tp_table_add(table, TP_STYLE_DIM, line->symbol->module);
}

/* "main < run < work", innermost last to be cut: the outer end is the least of it. */
static void stack_cell(const struct tp_cpu_listing *context, const struct tp_cpu_row *row, struct tp_table *table)
{
	const struct tp_process *process = &context->run->processes[row->process];
	struct tp_stack stack = { NULL };
	char text[600], name[300], shorter[300];
	size_t used = 0;

	snprintf(text, sizeof(text), "%s", no_line(context));
	if (tp_stack_read(&stack, process->trace, context->symbols[row->process], row->node))
		for (size_t i = 0; i < stack.last && used + 80 < sizeof(text); i++) {
			tp_short_name(context->page, tp_line_name(&stack.lines[i], name, sizeof(name)), 32, shorter,
				      sizeof(shorter));
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.60s",
						 !i		       ? ""
						 : context->page->utf8 ? " \xe2\x86\x90 "
								       : " < ",
						 shorter);
		}
	tp_table_add(table, TP_STYLE_FUNCTION, text);
	tp_stack_free(&stack);
}

static const char *titles(const struct tp_cpu_options *options)
{
	if (options->relation)
		return ">share|>95% interval|>CPU time|>samples|*function|module";
	switch (options->by) {
	case TP_BY_STACK:
		return ">share|>95% interval|>CPU time|>samples|*stack";
	case TP_BY_THREAD:
		return ">share|>95% interval|>CPU time|>samples|>thread|*name";
	case TP_BY_OP:
		return ">share|>95% interval|>CPU time|>samples|*op";
	case TP_BY_LINE:
		return ">self|>95% interval|>CPU time|>samples|>total|>95% interval|line|*function";
	case TP_BY_MODULE:
		return ">self|>95% interval|>CPU time|>samples|>total|>95% interval|*module";
	default:
		return ">self|>95% interval|>CPU time|>samples|>total|>95% interval|*function|module";
	}
}

static void cells(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows, const struct tp_cpu_row *row,
		  struct tp_table *table)
{
	const struct tp_cpu_options *options = &context->options;
	bool flat = options->by == TP_BY_STACK || options->by == TP_BY_THREAD || options->by == TP_BY_OP ||
		    options->relation;
	const struct tp_cpu *first = options->relation ? &row->total : &row->self;

	tp_table_add(table, TP_STYLE_NUMBER, share_text(tp_cpu_share(rows, first)).text);
	tp_table_add(table, TP_STYLE_DIM, interval_text(rows, first).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_time(options->relation ? row->total_ns : row->self_ns).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_count(first->samples).text);
	if (!flat) {
		tp_table_add(table, TP_STYLE_NUMBER, share_text(tp_cpu_share(rows, &row->total)).text);
		tp_table_add(table, TP_STYLE_DIM, interval_text(rows, &row->total).text);
	}
	if (options->by == TP_BY_STACK && !options->relation)
		stack_cell(context, row, table);
	else
		name_cells(context, row, table);
}

void tp_cpu_print(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows)
{
	size_t count = context->top && context->top < rows->count ? (size_t)context->top : rows->count;
	struct tp_table *table = rows->count ? tp_table_new(titles(&context->options)) : NULL;

	if (!table)
		return;
	for (size_t i = 0; i < count; i++)
		cells(context, rows, &rows->rows[i], table);
	tp_table_print(table, context->page, 2);
	tp_table_free(table);
	if (count < rows->count)
		tp_print(context->page, TP_STYLE_DIM, "      and %s more row%s (--top 0 shows all)\n",
			 tp_count(rows->count - count).text, tp_plural(rows->count - count));
}
