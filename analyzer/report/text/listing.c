/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/bar.h"
#include "report/text/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/steps/steps.h"
#include "report/rows/known_caches.h"
#include "report/rows/site_columns.h"
#include "report/text/columns.h"
#include "report/text/name.h"
#include "report/text/numbers.h"
#include "report/text/stack_listing.h"

static size_t row_count(const struct tpa_listing *context, const struct tpa_rows *rows)
{
	return context->top && context->top < rows->count ? (size_t)context->top : rows->count;
}

static const struct tpa_trace *trace_of(const struct tpa_listing *context, const struct tpa_row *row)
{
	return context->run->processes[row->process].trace;
}

static bool has_stack(const struct tpa_row *row)
{
	return row->line.location != NULL;
}

static void print_hotspot(const struct tpa_numbers *numbers, const struct tpa_rows *rows, const struct tpa_sums *self)
{
	const struct tpa_page *page = numbers->page;

	tpa_print(page, TPA_STYLE_NUMBER, "%s allocation%s",
		  tpa_some_count(numbers, self->allocations, self->variance.allocations).text,
		  tpa_plural(self->allocations));
	fprintf(page->out, " (%s), %s", tpa_some_percent(numbers, self->allocations, rows->sums.allocations).text,
		tpa_some_bytes(numbers, self->bytes, self->variance.bytes).text);
	if (!tpa_numbers_estimated(numbers))
		fprintf(page->out, ", %s temporary", tpa_percent(self->temporary, self->allocations).text);
	fprintf(page->out, ", %s short-lived\n", tpa_some_percent(numbers, self->short_lived, self->allocations).text);
}

/* The whole for shares: the headline's total including suppressed rows; with a filter, what the filter passes. */
static uint64_t whole_of(const struct tpa_rows *rows, const struct tpa_listing *context)
{
	if (context->hotspots)
		return rows->sums.allocations;
	return tpa_sums_bytes(&rows->sums, context->what) + tpa_sums_bytes(&rows->suppressed, context->what);
}

static const char *keys_of(const struct tpa_listing *context)
{
	return context->hotspots ? "*allocations allocations_share bytes temporary_share" : "*bytes share blocks";
}

static void print_numbers(const struct tpa_listing *context, const struct tpa_rows *rows, const struct tpa_row *row,
			  size_t number)
{
	const struct tpa_page *page = context->page;
	const struct tpa_sums *self = &row->self;
	struct tpa_numbers numbers = { page, rows->unseen };
	enum tpa_what what = context->what;
	uint64_t bytes = tpa_sums_bytes(self, what), blocks = tpa_sums_blocks(self, what);
	uint64_t largest = tpa_sums_largest(self, what);

	fprintf(page->out, "\n%4zu. ", number);
	if (context->hotspots) {
		print_hotspot(&numbers, rows, self);
		return;
	}
	tpa_print(page, TPA_STYLE_NUMBER, "%s",
		  tpa_some_bytes(&numbers, bytes, tpa_sums_bytes_variance(self, what)).text);
	fprintf(page->out, " (%s) in %s block%s", tpa_some_percent(&numbers, bytes, whole_of(rows, context)).text,
		tpa_some_count(&numbers, blocks, tpa_sums_blocks_variance(self, what)).text, tpa_plural(blocks));
	if (largest && blocks > 1)
		fprintf(page->out, ", the largest request %s %s", tpa_rows_estimated(rows) ? "recorded here" : "here",
			tpa_bytes(largest, page->exact).text);
	fputc('\n', page->out);
}

static void print_op(const struct tpa_page *page, const struct tpa_row *row)
{
	char shorter[400];

	if (row->op)
		tpa_print(page, TPA_STYLE_DIM, "        in op %s\n",
			  tpa_short_name(page, row->op, 80, shorter, sizeof(shorter)));
}

static void print_rest(const struct tpa_listing *context, const struct tpa_rows *rows, size_t printed)
{
	const char *what = context->by == TPA_BY_STACK ? "stack" : "row";
	struct tpa_numbers numbers = { context->page, rows->unseen };
	const struct tpa_sums *sums = &rows->sums;
	uint64_t bytes = tpa_sums_bytes(sums, context->what), calls = tpa_sums_blocks(sums, context->what);
	double bytes_variance = 0, calls_variance = 0;

	for (size_t i = 0; i < printed; i++) {
		bytes -= tpa_sums_bytes(&rows->rows[i].self, context->what);
		calls -= tpa_sums_blocks(&rows->rows[i].self, context->what);
	}
	for (size_t i = printed; tpa_rows_estimated(rows) && i < rows->shown; i++) { /* all rows are shown then */
		bytes_variance += tpa_sums_bytes_variance(&rows->rows[i].self, context->what);
		calls_variance += tpa_sums_blocks_variance(&rows->rows[i].self, context->what);
	}
	if (printed == rows->count)
		return;
	if (!calls)
		tpa_print(context->page, TPA_STYLE_DIM,
			  "\n      and %s more row%s without any of their own (--top 0 shows all)\n",
			  tpa_count(rows->count - printed).text, tpa_plural(rows->count - printed));
	else
		tpa_print(context->page, TPA_STYLE_DIM,
			  "\n      and %s more %s%s with %s in %s %s%s (--top 0 shows all)\n",
			  tpa_count(rows->count - printed).text, what, tpa_plural(rows->count - printed),
			  tpa_some_bytes(&numbers, bytes, bytes_variance).text,
			  tpa_some_count(&numbers, calls, calls_variance).text,
			  context->hotspots ? "allocation" : "block", tpa_plural(calls));
}

/* Adds the cells for a row's name and place. */
static void name_cells(const struct tpa_listing *context, const struct tpa_row *row, struct tpa_table *table)
{
	const struct tpa_trace *trace = trace_of(context, row);
	char name[300], place[1024], shorter[1200];
	const struct tpa_process *process = &context->run->processes[row->process];

	switch (context->by) {
	case TPA_BY_SIZE:
		tpa_cell(table, TPA_STYLE_FUNCTION, tpa_bytes(row->key, context->page->exact));
		return;
	case TPA_BY_THREAD:
		tpa_cell(table, TPA_STYLE_FUNCTION, tpa_text_of("%" PRIu64, row->key));
		name[0] = '\0';
		for (size_t i = 0; i < process->thread_count; i++)
			if (process->threads[i].thread == row->key)
				snprintf(name, sizeof(name), "%.31s (tid %" PRIu32 ")", process->threads[i].name,
					 process->threads[i].tid);
		tpa_table_add(table, TPA_STYLE_DIM, name);
		return;
	case TPA_BY_OP:
		tpa_table_add(table, row->op ? TPA_STYLE_FUNCTION : TPA_STYLE_DIM,
			      row->op ? tpa_short_name(context->page, row->op, 80, shorter, sizeof(shorter))
				      : "(outside of every op)");
		return;
	case TPA_BY_LAYER:
		tpa_table_add(table, row->op ? TPA_STYLE_FUNCTION : TPA_STYLE_DIM, row->op ? row->op : "(in no layer)");
		return;
	case TPA_BY_STEP:
		tpa_cell(table, TPA_STYLE_FUNCTION, tpa_range_text(row->key, tpa_step_key_span(row->key)));
		return;
	default:
		break;
	}
	if (!has_stack(row)) {
		tpa_table_add(table, TPA_STYLE_DIM, "(stack not recorded)");
		if (context->by != TPA_BY_MODULE)
			tpa_table_add(table, TPA_STYLE_DIM, "");
	} else if (context->by == TPA_BY_MODULE) {
		tpa_table_add(table, TPA_STYLE_FUNCTION,
			      row->line.symbol->path[0] ? row->line.symbol->path : "(no module)");
	} else if (context->by == TPA_BY_LINE) {
		tpa_table_add(table, TPA_STYLE_FUNCTION, tpa_line_place(&row->line, trace->cwd, place, sizeof(place)));
		tpa_table_add(table, TPA_STYLE_DIM,
			      row->line.location->function ? tpa_short_name(context->page, row->line.location->function,
									    60, shorter, sizeof(shorter))
							   : "(no name)");
	} else {
		tpa_table_add(table, TPA_STYLE_FUNCTION,
			      row->line.location->function ? tpa_short_name(context->page, row->line.location->function,
									    80, shorter, sizeof(shorter))
							   : "(no name)");
		tpa_table_add(table, TPA_STYLE_DIM, row->line.symbol->module);
	}
}

/* Begins a table by any key but stacks: its number columns, and a title for its rows. */
static struct tpa_table *begin_table(const struct tpa_listing *context, char *keys, size_t size)
{
	static const char *const names[] = {
		[TPA_BY_FUNCTION] = "*function|module",
		[TPA_BY_LINE] = "line|*function",
		[TPA_BY_MODULE] = "*module",
		[TPA_BY_THREAD] = ">thread|*name",
		[TPA_BY_SIZE] = ">size of the request",
		[TPA_BY_OP] = "*op",
		[TPA_BY_STEP] = ">step",
		[TPA_BY_LAYER] = "*layer",
	};
	char rest[40];
	const char *within = !tpa_by_nested(context->by) ? NULL : context->by == TPA_BY_LAYER ? "inner" : "total";

	if (context->hotspots)
		snprintf(keys, size, within ? "%s short_lived_share %s_allocations" : "%s short_lived_share",
			 keys_of(context), within);
	else
		snprintf(keys, size, within ? "%s *%s_bytes total_share" : "%s", keys_of(context), within);
	snprintf(rest, sizeof(rest), "%s%s", context->page->bars ? "|" : "", names[context->by]);
	return tpa_columns_begin(context->page, tpa_site_columns(context->what), keys, rest);
}

/* Of the share that stands beside it. */
static struct tpa_text bar_of(const struct tpa_listing *context, const struct tpa_row *row, uint64_t whole)
{
	const struct tpa_sums *sums = tpa_by_nested(context->by) ? &row->total : &row->self;
	uint64_t amount = context->hotspots ? sums->allocations : tpa_sums_bytes(sums, context->what);

	return tpa_bar(context->page, whole ? (double)amount / (double)whole : 0);
}

static void print_table(const struct tpa_listing *context, const struct tpa_rows *rows)
{
	struct tpa_row_context row = { .unseen = rows->unseen, .whole = whole_of(rows, context) };
	char keys[200];
	struct tpa_table *table = begin_table(context, keys, sizeof(keys));
	size_t count = row_count(context, rows);

	for (size_t i = 0; i < count; i++) {
		tpa_columns_add(table, context->page, tpa_site_columns(context->what), keys, &rows->rows[i], &row);
		if (context->page->bars)
			tpa_cell(table, TPA_STYLE_DIM, bar_of(context, &rows->rows[i], row.whole));
		name_cells(context, &rows->rows[i], table);
	}
	fputc('\n', context->page->out);
	tpa_table_end(table, context->page);
}

static void print_holder(const struct tpa_listing *context, const struct tpa_row *row)
{
	if (row->holder)
		tpa_print(context->page, TPA_STYLE_DIM, "        held by %s\n", tpa_holder_name(row->holder));
}

static int compare_held(const void *left, const void *right, void *context)
{
	const struct tpa_rows *rows = context;
	const enum tpa_holder *a = left, *b = right;
	uint64_t x = rows->held[*a].live_bytes, y = rows->held[*b].live_bytes;

	return TPA_DOWN(x, y) ?: (int)*a - (int)*b;
}

/* Prints the sum of memory that the program can't free itself; such rows come last. */
static void print_held(const struct tpa_listing *context, const struct tpa_rows *rows)
{
	struct tpa_numbers numbers = { context->page, rows->unseen };
	enum tpa_holder order[TPA_HOLDERS];
	size_t count = 0;

	if (context->what != TPA_WHAT_UNFREED)
		return;
	for (enum tpa_holder i = TPA_HOLDER_NONE + 1; i < TPA_HOLDERS; i++)
		if (rows->held[i].live_blocks)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), compare_held, (void *)(uintptr_t)rows);
	for (size_t i = 0; i < count; i++) {
		const struct tpa_sums *sums = &rows->held[order[i]];

		tpa_print(context->page, TPA_STYLE_DIM, "%s%s by %s", i ? ", " : "\nkept until exit by design: ",
			  tpa_some_bytes(&numbers, sums->live_bytes, sums->variance.live_bytes).text,
			  tpa_holder_name(order[i]));
	}
	if (count)
		fputc('\n', context->page->out);
}

void tpa_listing_print(const struct tpa_listing *context, const struct tpa_rows *rows)
{
	size_t count = row_count(context, rows);

	if (!rows->count)
		return;
	if (context->by != TPA_BY_STACK) {
		print_table(context, rows);
	} else {
		for (size_t i = 0; i < count; i++) {
			print_numbers(context, rows, &rows->rows[i], i + 1);
			print_op(context->page, &rows->rows[i]);
			print_holder(context, &rows->rows[i]);
			tpa_stack_print(context->page, trace_of(context, &rows->rows[i]),
					context->symbols[rows->rows[i].process], rows->rows[i].node);
		}
	}
	print_rest(context, rows, count);
	print_held(context, rows);
}

/* Cuts the end of a chain of callers on a narrow page, as it matters least. */
static void cut_to(const struct tpa_page *page, char *text, int columns)
{
	const char *dots = page->utf8 ? "\xe2\x80\xa6" : "..";
	int keep = columns - (page->utf8 ? 1 : 2);
	char *p = text;

	if (tpa_text_columns(page, text) <= columns)
		return;
	for (int column = 0; *p && column < keep; column++)
		do
			p++;
		while (page->utf8 && ((unsigned char)*p & 0xc0) == 0x80);
	strcpy(p, dots);
}

void tpa_listing_print_short(const struct tpa_listing *context, const struct tpa_rows *rows)
{
	const struct tpa_page *page = context->page;
	size_t count = row_count(context, rows);
	const struct tpa_column *columns = tpa_site_columns(context->what);
	struct tpa_table *table = tpa_columns_begin(page, columns, keys_of(context), "*allocated by");
	struct tpa_row_context of = { .unseen = rows->unseen, .whole = whole_of(rows, context) };
	int used = (context->hotspots ? 48 : 34) + (tpa_rows_estimated(rows) ? 20 : 0);
	char text[1200];

	for (size_t i = 0; i < count; i++) {
		const struct tpa_row *row = &rows->rows[i];

		tpa_columns_add(table, page, columns, keys_of(context), row, &of);
		tpa_stack_describe(page, trace_of(context, row), context->symbols[row->process], row->node,
				   page->width - used, text, sizeof(text));
		cut_to(page, text, page->width - used);
		tpa_table_add(table, TPA_STYLE_PLAIN, text);
	}
	tpa_table_end(table, page);
	print_held(context, rows);
}

void tpa_listing_print_stack(const struct tpa_listing *context, size_t process, uint32_t node)
{
	tpa_stack_print(context->page, context->run->processes[process].trace, context->symbols[process], node);
}

void tpa_listing_describe(const struct tpa_listing *context, size_t process, uint32_t node, int columns, char *text,
			  size_t size)
{
	tpa_stack_describe(context->page, context->run->processes[process].trace, context->symbols[process], node,
			   columns, text, size);
	cut_to(context->page, text, columns);
}
