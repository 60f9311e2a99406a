/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/steps/steps.h"
#include "report/rows/known_caches.h"
#include "report/text/name.h"
#include "report/text/numbers.h"
#include "report/text/stack_listing.h"

static size_t row_count(const struct tp_listing *context, const struct tp_rows *rows)
{
	return context->top && context->top < rows->count ? (size_t)context->top : rows->count;
}

static const struct tp_trace *trace_of(const struct tp_listing *context, const struct tp_row *row)
{
	return context->run->processes[row->process].trace;
}

static bool has_stack(const struct tp_row *row)
{
	return row->line.location != NULL;
}

static void print_hotspot(const struct tp_numbers *numbers, const struct tp_rows *rows, const struct tp_sums *self)
{
	const struct tp_page *page = numbers->page;

	tp_print(page, TP_STYLE_NUMBER, "%s allocation%s",
		 tp_some_count(numbers, self->allocations, self->variance.allocations).text,
		 tp_plural(self->allocations));
	fprintf(page->out, " (%s), %s", tp_some_percent(numbers, self->allocations, rows->sums.allocations).text,
		tp_some_bytes(numbers, self->bytes, self->variance.bytes).text);
	if (!tp_numbers_estimated(numbers))
		fprintf(page->out, ", %s temporary", tp_percent(self->temporary, self->allocations).text);
	fprintf(page->out, ", %s short-lived\n", tp_some_percent(numbers, self->short_lived, self->allocations).text);
}

/* What shares are of: all that the headline tells of, with what is suppressed; of what a filter lets through. */
static uint64_t whole_of(const struct tp_rows *rows, enum tp_what what)
{
	return tp_sums_bytes(&rows->sums, what) + tp_sums_bytes(&rows->suppressed, what);
}

static void print_numbers(const struct tp_listing *context, const struct tp_rows *rows, const struct tp_row *row,
			  size_t number)
{
	const struct tp_page *page = context->page;
	const struct tp_sums *self = &row->self;
	struct tp_numbers numbers = { page, rows->unseen };
	enum tp_what what = context->what;
	uint64_t bytes = tp_sums_bytes(self, what), blocks = tp_sums_blocks(self, what);
	uint64_t largest = tp_sums_largest(self, what);

	fprintf(page->out, "\n%4zu. ", number);
	if (context->hotspots) {
		print_hotspot(&numbers, rows, self);
		return;
	}
	tp_print(page, TP_STYLE_NUMBER, "%s", tp_some_bytes(&numbers, bytes, tp_sums_bytes_variance(self, what)).text);
	fprintf(page->out, " (%s) in %s block%s", tp_some_percent(&numbers, bytes, whole_of(rows, what)).text,
		tp_some_count(&numbers, blocks, tp_sums_blocks_variance(self, what)).text, tp_plural(blocks));
	if (largest && blocks > 1)
		fprintf(page->out, ", the largest request %s %s", tp_rows_estimated(rows) ? "recorded here" : "here",
			tp_bytes(largest, page->exact).text);
	fputc('\n', page->out);
}

static void print_op(const struct tp_page *page, const struct tp_row *row)
{
	char shorter[400];

	if (row->op)
		tp_print(page, TP_STYLE_DIM, "        in op %s\n",
			 tp_short_name(page, row->op, 80, shorter, sizeof(shorter)));
}

static void print_rest(const struct tp_listing *context, const struct tp_rows *rows, size_t printed)
{
	const char *what = context->by == TP_BY_STACK ? "stack" : "row";
	struct tp_numbers numbers = { context->page, rows->unseen };
	const struct tp_sums *sums = &rows->sums;
	uint64_t bytes = tp_sums_bytes(sums, context->what), calls = tp_sums_blocks(sums, context->what);
	double bytes_variance = 0, calls_variance = 0;

	for (size_t i = 0; i < printed; i++) {
		bytes -= tp_sums_bytes(&rows->rows[i].self, context->what);
		calls -= tp_sums_blocks(&rows->rows[i].self, context->what);
	}
	for (size_t i = printed; tp_rows_estimated(rows) && i < rows->shown; i++) { /* all are shown then */
		bytes_variance += tp_sums_bytes_variance(&rows->rows[i].self, context->what);
		calls_variance += tp_sums_blocks_variance(&rows->rows[i].self, context->what);
	}
	if (printed == rows->count)
		return;
	if (!calls)
		tp_print(context->page, TP_STYLE_DIM,
			 "\n      and %s more row%s without any of their own (--top 0 shows all)\n",
			 tp_count(rows->count - printed).text, tp_plural(rows->count - printed));
	else
		tp_print(context->page, TP_STYLE_DIM,
			 "\n      and %s more %s%s with %s in %s %s%s (--top 0 shows all)\n",
			 tp_count(rows->count - printed).text, what, tp_plural(rows->count - printed),
			 tp_some_bytes(&numbers, bytes, bytes_variance).text,
			 tp_some_count(&numbers, calls, calls_variance).text,
			 context->hotspots ? "allocation" : "block", tp_plural(calls));
}

static void add_cell(struct tp_table *table, enum tp_style style, struct tp_text text)
{
	tp_table_add(table, style, text.text);
}

/* What a row is of, and where that is. */
static void name_cells(const struct tp_listing *context, const struct tp_row *row, struct tp_table *table)
{
	const struct tp_trace *trace = trace_of(context, row);
	char name[300], place[1024], shorter[1200];
	const struct tp_process *process = &context->run->processes[row->process];

	switch (context->by) {
	case TP_BY_SIZE:
		add_cell(table, TP_STYLE_FUNCTION, tp_bytes(row->key, context->page->exact));
		return;
	case TP_BY_THREAD:
		snprintf(name, sizeof(name), "%" PRIu64, row->key);
		tp_table_add(table, TP_STYLE_FUNCTION, name);
		name[0] = '\0';
		for (size_t i = 0; i < process->thread_count; i++)
			if (process->threads[i].thread == row->key)
				snprintf(name, sizeof(name), "%.31s (tid %" PRIu32 ")", process->threads[i].name,
					 process->threads[i].tid);
		tp_table_add(table, TP_STYLE_DIM, name);
		return;
	case TP_BY_OP:
		tp_table_add(table, row->op ? TP_STYLE_FUNCTION : TP_STYLE_DIM,
			     row->op ? tp_short_name(context->page, row->op, 80, shorter, sizeof(shorter))
				     : "(outside of every op)");
		return;
	case TP_BY_LAYER:
		tp_table_add(table, row->op ? TP_STYLE_FUNCTION : TP_STYLE_DIM, row->op ? row->op : "(in no layer)");
		return;
	case TP_BY_STEP:
		if (tp_step_key_span(row->key) > 1)
			snprintf(name, sizeof(name), "%" PRIu64 "-%" PRIu64, row->key,
				 row->key + tp_step_key_span(row->key) - 1);
		else
			snprintf(name, sizeof(name), "%" PRIu64, row->key);
		tp_table_add(table, TP_STYLE_FUNCTION, name);
		return;
	default:
		break;
	}
	if (!has_stack(row)) {
		tp_table_add(table, TP_STYLE_DIM, "(stack not recorded)");
		if (context->by != TP_BY_MODULE)
			tp_table_add(table, TP_STYLE_DIM, "");
	} else if (context->by == TP_BY_MODULE) {
		tp_table_add(table, TP_STYLE_FUNCTION,
			     row->line.symbol->path[0] ? row->line.symbol->path : "(no module)");
	} else if (context->by == TP_BY_LINE) {
		tp_table_add(table, TP_STYLE_FUNCTION, tp_line_place(&row->line, trace->cwd, place, sizeof(place)));
		tp_table_add(table, TP_STYLE_DIM,
			     row->line.location->function ? tp_short_name(context->page, row->line.location->function,
									  60, shorter, sizeof(shorter))
							  : "(no name)");
	} else {
		tp_table_add(table, TP_STYLE_FUNCTION,
			     row->line.location->function ? tp_short_name(context->page, row->line.location->function,
									  80, shorter, sizeof(shorter))
							  : "(no name)");
		tp_table_add(table, TP_STYLE_DIM, row->line.symbol->module);
	}
}

static const char *table_titles(const struct tp_listing *context, char *buffer, size_t size)
{
	static const char *const names[] = {
		[TP_BY_FUNCTION] = "*function|module",
		[TP_BY_LINE] = "line|*function",
		[TP_BY_MODULE] = "*module",
		[TP_BY_THREAD] = ">thread|*name",
		[TP_BY_SIZE] = ">size of the request",
		[TP_BY_OP] = "*op",
		[TP_BY_STEP] = ">step",
		[TP_BY_LAYER] = "*layer",
	};
	const char *within = context->by == TP_BY_LAYER ? "with inner layers" : "with callees";
	bool nested = tp_by_nested(context->by);

	if (context->hotspots)
		snprintf(buffer, size, ">allocations|>%%|>bytes|>temporary|>short-lived%s%s|%s", nested ? "|>" : "",
			 nested ? within : "", names[context->by]);
	else
		snprintf(buffer, size, ">bytes|>%%|>blocks%s%s%s|%s", nested ? "|>" : "", nested ? within : "",
			 nested ? "|>%" : "", names[context->by]);
	return buffer;
}

static void hotspot_cells(const struct tp_numbers *numbers, const struct tp_rows *rows, const struct tp_sums *self,
			  struct tp_table *table)
{
	add_cell(table, TP_STYLE_NUMBER, tp_some_count(numbers, self->allocations, self->variance.allocations));
	add_cell(table, TP_STYLE_PLAIN, tp_some_percent(numbers, self->allocations, rows->sums.allocations));
	add_cell(table, TP_STYLE_PLAIN, tp_some_bytes(numbers, self->bytes, self->variance.bytes));
	if (tp_numbers_estimated(numbers))
		tp_table_add(table, TP_STYLE_DIM, "not known");
	else
		add_cell(table, TP_STYLE_PLAIN, tp_percent(self->temporary, self->allocations));
}

static void byte_cells(const struct tp_numbers *numbers, const struct tp_rows *rows, const struct tp_sums *self,
		       enum tp_what what, struct tp_table *table)
{
	uint64_t bytes = tp_sums_bytes(self, what);

	add_cell(table, TP_STYLE_NUMBER, tp_some_bytes(numbers, bytes, tp_sums_bytes_variance(self, what)));
	add_cell(table, TP_STYLE_PLAIN, tp_some_percent(numbers, bytes, whole_of(rows, what)));
}

static void number_cells(const struct tp_listing *context, const struct tp_rows *rows, const struct tp_row *row,
			 struct tp_table *table)
{
	bool nested = tp_by_nested(context->by);
	struct tp_numbers numbers = { context->page, rows->unseen };
	const struct tp_sums *self = &row->self, *total = &row->total;
	enum tp_what what = context->what;

	if (context->hotspots) {
		hotspot_cells(&numbers, rows, self, table);
		add_cell(table, TP_STYLE_PLAIN, tp_some_percent(&numbers, self->short_lived, self->allocations));
		if (nested)
			add_cell(table, TP_STYLE_PLAIN,
				 tp_some_count(&numbers, total->allocations, total->variance.allocations));
		return;
	}
	byte_cells(&numbers, rows, self, what, table);
	add_cell(table, TP_STYLE_PLAIN,
		 tp_some_count(&numbers, tp_sums_blocks(self, what), tp_sums_blocks_variance(self, what)));
	if (nested)
		byte_cells(&numbers, rows, total, what, table);
}

static void print_table(const struct tp_listing *context, const struct tp_rows *rows)
{
	char titles[200];
	struct tp_table *table = tp_table_new(table_titles(context, titles, sizeof(titles)));
	size_t count = row_count(context, rows);

	for (size_t i = 0; i < count; i++) {
		number_cells(context, rows, &rows->rows[i], table);
		name_cells(context, &rows->rows[i], table);
	}
	fputc('\n', context->page->out);
	tp_table_print(table, context->page, 2);
	tp_table_free(table);
}

static void print_holder(const struct tp_listing *context, const struct tp_row *row)
{
	if (row->holder)
		tp_print(context->page, TP_STYLE_DIM, "        held by %s\n", tp_holder_name(row->holder));
}

static int compare_held(const void *left, const void *right, void *context)
{
	const struct tp_rows *rows = context;
	const enum tp_holder *a = left, *b = right;
	uint64_t x = rows->held[*a].live_bytes, y = rows->held[*b].live_bytes;

	return x != y ? (x > y ? -1 : 1) : (int)*a - (int)*b;
}

/* What is not the program's own to free, in sum: such rows come last. */
static void print_held(const struct tp_listing *context, const struct tp_rows *rows)
{
	struct tp_numbers numbers = { context->page, rows->unseen };
	enum tp_holder order[TP_HOLDERS];
	size_t count = 0;

	if (context->what != TP_WHAT_UNFREED)
		return;
	for (enum tp_holder i = TP_HOLDER_NONE + 1; i < TP_HOLDERS; i++)
		if (rows->held[i].live_blocks)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), compare_held, (void *)(uintptr_t)rows);
	for (size_t i = 0; i < count; i++) {
		const struct tp_sums *sums = &rows->held[order[i]];

		tp_print(context->page, TP_STYLE_DIM, "%s%s by %s", i ? ", " : "\nheld: ",
			 tp_some_bytes(&numbers, sums->live_bytes, sums->variance.live_bytes).text,
			 tp_holder_name(order[i]));
	}
	if (count)
		fputc('\n', context->page->out);
}

void tp_listing_print(const struct tp_listing *context, const struct tp_rows *rows)
{
	size_t count = row_count(context, rows);

	if (!rows->count)
		return;
	if (context->by != TP_BY_STACK) {
		print_table(context, rows);
	} else {
		for (size_t i = 0; i < count; i++) {
			print_numbers(context, rows, &rows->rows[i], i + 1);
			print_op(context->page, &rows->rows[i]);
			print_holder(context, &rows->rows[i]);
			tp_stack_print(context->page, trace_of(context, &rows->rows[i]),
				       context->symbols[rows->rows[i].process], rows->rows[i].node);
		}
	}
	print_rest(context, rows, count);
	print_held(context, rows);
}

/* The end of a chain of callers is the least of it: it is what a narrow page loses. */
static void cut_to(const struct tp_page *page, char *text, int columns)
{
	const char *dots = page->utf8 ? "\xe2\x80\xa6" : "..";
	int keep = columns - (page->utf8 ? 1 : 2);
	char *p = text;

	if (tp_text_columns(page, text) <= columns)
		return;
	for (int column = 0; *p && column < keep; column++)
		do
			p++;
		while (page->utf8 && ((unsigned char)*p & 0xc0) == 0x80);
	strcpy(p, dots);
}

void tp_listing_print_short(const struct tp_listing *context, const struct tp_rows *rows)
{
	const struct tp_page *page = context->page;
	size_t count = row_count(context, rows);
	struct tp_table *table = tp_table_new(context->hotspots ? ">allocations|>%|>bytes|>temporary|*allocated by"
								: ">bytes|>%|>blocks|*allocated by");
	struct tp_numbers numbers = { page, rows->unseen };
	int used = (context->hotspots ? 48 : 34) + (tp_rows_estimated(rows) ? 20 : 0);
	char text[1200];

	for (size_t i = 0; i < count; i++) {
		const struct tp_row *row = &rows->rows[i];
		const struct tp_sums *self = &row->self;

		if (context->hotspots) {
			hotspot_cells(&numbers, rows, self, table);
		} else {
			byte_cells(&numbers, rows, self, context->what, table);
			add_cell(table, TP_STYLE_PLAIN,
				 tp_some_count(&numbers, tp_sums_blocks(self, context->what),
					       tp_sums_blocks_variance(self, context->what)));
		}
		tp_stack_describe(page, trace_of(context, row), context->symbols[row->process], row->node, text,
				  sizeof(text));
		cut_to(page, text, page->width - used);
		tp_table_add(table, TP_STYLE_PLAIN, text);
	}
	tp_table_print(table, page, 2);
	tp_table_free(table);
	print_held(context, rows);
}

void tp_listing_print_stack(const struct tp_listing *context, size_t process, uint32_t node)
{
	tp_stack_print(context->page, context->run->processes[process].trace, context->symbols[process], node);
}

void tp_listing_describe(const struct tp_listing *context, size_t process, uint32_t node, int columns, char *text,
			 size_t size)
{
	tp_stack_describe(context->page, context->run->processes[process].trace, context->symbols[process], node, text,
			  size);
	cut_to(context->page, text, columns);
}
