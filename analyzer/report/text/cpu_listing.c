/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/cpu_listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/name.h"
#include "report/text/op_cells.h"

void tpa_cpu_print_capture(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tprof_header *header = process->trace->header;
	const struct tpa_cpu *cpu = &process->cpu;

	if (!header->cpu_period_ns && !cpu->samples) {
		fputs(process->trace->source_count ? "not in what was imported" : "CPU sampling was off", page->out);
		return;
	}
	fprintf(page->out, "%s in %s sample%s, one per %s of a thread's CPU time",
		tpa_time(tpa_cpu_ns(process, cpu)).text, tpa_count(cpu->samples).text, tpa_plural(cpu->samples),
		tpa_time(header->cpu_period_ns).text);
	if (cpu->periods > cpu->samples)
		fprintf(page->out, " (%s came late and count more)", tpa_count(cpu->periods - cpu->samples).text);
	if (process->op_count && cpu->periods)
		fprintf(page->out, "; %s of it outside of every op",
			tpa_percent(process->cpu_outside.periods, cpu->periods).text);
	if (header->cpu_stopped)
		tpa_print(page, TPA_STYLE_WARN, "; sampling was stopped: the program uses the signal itself");
}

/* ---- text ---- */

static struct tpa_text interval_text(const struct tpa_cpu_rows *rows, const struct tpa_cpu *part)
{
	struct tpa_interval interval = tpa_cpu_interval(rows, part);

	return tpa_text_of("%.1f-%.1f%%", 100 * interval.low, 100 * interval.high);
}

static const struct tpa_thread_stats *thread_of(const struct tpa_process *process, uint32_t thread)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].thread == thread)
			return &process->threads[i];
	return NULL;
}

static void thread_cells(struct tpa_table *table, const struct tpa_process *process, uint32_t number)
{
	const struct tpa_thread_stats *thread = thread_of(process, number);

	tpa_cell(table, TPA_STYLE_FUNCTION, tpa_text_of("%" PRIu32, number));
	tpa_cell(table, TPA_STYLE_DIM,
		 tpa_text_of("%.31s (tid %" PRIu32 ")", thread ? thread->name : "", thread ? thread->tid : 0));
}

/* Text for a row without a line. */
static const char *no_line(const struct tpa_cpu_listing *context)
{
	switch (context->options.relation) {
	case TPA_RELATION_CALLERS:
		return "(called by nothing that is known)";
	case TPA_RELATION_CALLEES:
		return "(the function itself)";
	default:
		return "(stack not recorded)";
	}
}

static void name_cells(const struct tpa_cpu_listing *context, const struct tpa_cpu_row *row, struct tpa_table *table)
{
	const struct tpa_process *process = &context->run->processes[row->process];
	enum tpa_by by = context->options.relation ? TPA_BY_FUNCTION : context->options.by;
	const struct tpa_line *line = &row->line;
	char place[1024], shorter[1200];
	const char *name;

	if (by == TPA_BY_THREAD) {
		thread_cells(table, process, row->thread);
		return;
	}
	if (by == TPA_BY_OP) {
		tpa_op_name_cell(table, context->page, row->op ? row->op : "(outside of every op)", 0);
		return;
	}
	if (!line->location) {
		tpa_table_add(table, TPA_STYLE_DIM, no_line(context));
		if (by != TPA_BY_MODULE)
			tpa_table_add(table, TPA_STYLE_DIM, "");
		return;
	}
	if (by == TPA_BY_MODULE) {
		tpa_table_add(table, TPA_STYLE_FUNCTION, line->symbol->path[0] ? line->symbol->path : "(no module)");
		return;
	}
	name = line->location->function
		       ? tpa_short_name(context->page, line->location->function, 70, shorter, sizeof(shorter))
		       : "(no name)";
	if (by == TPA_BY_LINE) {
		tpa_table_add(table, TPA_STYLE_FUNCTION,
			      tpa_line_place(line, process->trace->cwd, place, sizeof(place)));
		tpa_table_add(table, TPA_STYLE_DIM, name);
		return;
	}
	tpa_table_add(table, TPA_STYLE_FUNCTION, name);
	tpa_table_add(table, TPA_STYLE_DIM, line->symbol->module);
}

/* "main < run < work". Drops the outer end first if space is short, as it matters least. */
static void stack_cell(const struct tpa_cpu_listing *context, const struct tpa_cpu_row *row, struct tpa_table *table)
{
	const struct tpa_process *process = &context->run->processes[row->process];
	struct tpa_stack stack = { NULL };
	char text[600], name[300], shorter[300];
	size_t used = 0;

	snprintf(text, sizeof(text), "%s", no_line(context));
	tpa_stack_read(&stack, process->trace, context->symbols[row->process], row->node);
	for (size_t i = 0; i < stack.last && used + 80 < sizeof(text); i++) {
		tpa_short_name(context->page, tpa_line_name(&stack.lines[i], name, sizeof(name)), 32, shorter,
			       sizeof(shorter));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.60s",
					 !i		       ? ""
					 : context->page->utf8 ? " \xe2\x86\x90 "
							       : " < ",
					 shorter);
	}
	tpa_table_add(table, TPA_STYLE_FUNCTION, text);
	tpa_stack_free(&stack);
}

static const char *titles(const struct tpa_cpu_options *options)
{
	if (options->relation)
		return ">share|>95% interval|>CPU time|>samples|*function|module";
	switch (options->by) {
	case TPA_BY_STACK:
		return ">share|>95% interval|>CPU time|>samples|*stack";
	case TPA_BY_THREAD:
		return ">share|>95% interval|>CPU time|>samples|>thread|*name";
	case TPA_BY_OP:
		return ">share|>95% interval|>CPU time|>samples|*op";
	case TPA_BY_LINE:
		return ">self|>95% interval|>CPU time|>samples|>total|>95% interval|line|*function";
	case TPA_BY_MODULE:
		return ">self|>95% interval|>CPU time|>samples|>total|>95% interval|*module";
	default:
		return ">self|>95% interval|>CPU time|>samples|>total|>95% interval|*function|module";
	}
}

static void cells(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows, const struct tpa_cpu_row *row,
		  struct tpa_table *table)
{
	const struct tpa_cpu_options *options = &context->options;
	bool flat = options->by == TPA_BY_STACK || options->by == TPA_BY_THREAD || options->by == TPA_BY_OP ||
		    options->relation;
	const struct tpa_cpu *first = options->relation ? &row->total : &row->self;

	tpa_cell(table, TPA_STYLE_NUMBER, tpa_share(tpa_cpu_share(rows, first)));
	tpa_cell(table, TPA_STYLE_DIM, interval_text(rows, first));
	tpa_table_add(table, TPA_STYLE_PLAIN, tpa_time(options->relation ? row->total_ns : row->self_ns).text);
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_count(first->samples));
	if (!flat) {
		tpa_cell(table, TPA_STYLE_NUMBER, tpa_share(tpa_cpu_share(rows, &row->total)));
		tpa_cell(table, TPA_STYLE_DIM, interval_text(rows, &row->total));
	}
	if (options->by == TPA_BY_STACK && !options->relation)
		stack_cell(context, row, table);
	else
		name_cells(context, row, table);
}

void tpa_cpu_print(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows)
{
	size_t count = context->top && context->top < rows->count ? (size_t)context->top : rows->count;
	struct tpa_table *table = rows->count ? tpa_table_new(titles(&context->options)) : NULL;

	if (!table)
		return;
	for (size_t i = 0; i < count; i++)
		cells(context, rows, &rows->rows[i], table);
	tpa_table_end(table, context->page);
	tpa_rest_print(context->page, rows->count, count, " row");
}
