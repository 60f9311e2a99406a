/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ops/op_tree.h"
#include "report/rows/estimate.h"
#include "report/rows/row_index.h"
#include "report/rows/stack_rows.h"
#include "report/rows/suppressions.h"

struct tpa_rows_builder {
	struct tpa_rows_options options;
	struct tpa_rows *rows;
	struct tpa_row_index index;
	struct tpa_stack_rows *by_stack; /* NULL: rows are not by stack */
	struct tpa_stack stack;
};

struct order {
	const char *sort;
	enum tpa_what what;
	bool held_last;
};

const char *tpa_by_name(enum tpa_by by)
{
	static const char *const names[] = { "stack", "function", "line", "module", "thread",
					     "size",  "op",	  "step", "layer" };

	return by < sizeof(names) / sizeof(names[0]) ? names[by] : NULL;
}

uint64_t tpa_sums_largest(const struct tpa_sums *sums, enum tpa_what what)
{
	return what == TPA_WHAT_PEAK && sums->before_largest > sums->largest ? sums->before_largest : sums->largest;
}

uint64_t tpa_sums_bytes(const struct tpa_sums *sums, enum tpa_what what)
{
	switch (what) {
	case TPA_WHAT_PEAK:
		return sums->peak_bytes;
	case TPA_WHAT_UNFREED:
		return sums->live_bytes;
	default:
		return sums->bytes;
	}
}

uint64_t tpa_sums_blocks(const struct tpa_sums *sums, enum tpa_what what)
{
	switch (what) {
	case TPA_WHAT_PEAK:
		return sums->peak_blocks;
	case TPA_WHAT_UNFREED:
		return sums->live_blocks;
	case TPA_WHAT_TEMPORARY:
		return sums->temporary;
	default:
		return sums->allocations;
	}
}

struct tpa_rows_builder *tpa_rows_begin(const struct tpa_rows_options *options)
{
	struct tpa_rows_builder *builder = tpa_zalloc(1, sizeof(*builder));

	builder->options = *options;
	builder->rows = tpa_zalloc(1, sizeof(*builder->rows));
	if (options->by == TPA_BY_STACK)
		builder->by_stack = tpa_stack_rows_new();
	tpa_row_index_init(&builder->index);
	return builder;
}

void tpa_rows_free(struct tpa_rows *rows)
{
	if (!rows)
		return;
	free(rows->rows);
	free(rows->bytes);
	free(rows);
}

struct tpa_sums tpa_sums_of(const struct tpa_site *site)
{
	return (struct tpa_sums){
		.allocations = site->allocations,
		.bytes = site->bytes,
		.peak_bytes = site->peak_bytes,
		.peak_blocks = site->peak_blocks,
		.live_bytes = site->live_bytes,
		.live_blocks = site->live_blocks,
		.temporary = site->temporary,
		.short_lived = site->short_lived,
		.largest = site->largest,
		.before_largest = site->before_largest,
		.variance = tpa_site_variance(site),
	};
}

static void add_variance(struct tpa_variance *to, const struct tpa_variance *from)
{
	to->allocations += from->allocations;
	to->frees += from->frees;
	to->bytes += from->bytes;
	to->usable += from->usable;
	to->short_lived += from->short_lived;
	to->peak_bytes += from->peak_bytes;
	to->peak_blocks += from->peak_blocks;
	to->peak_usable += from->peak_usable;
	to->live_bytes += from->live_bytes;
	to->live_blocks += from->live_blocks;
	to->live_usable += from->live_usable;
}

void tpa_sums_add(struct tpa_sums *to, const struct tpa_sums *from)
{
	to->allocations += from->allocations;
	to->bytes += from->bytes;
	to->peak_bytes += from->peak_bytes;
	to->peak_blocks += from->peak_blocks;
	to->live_bytes += from->live_bytes;
	to->live_blocks += from->live_blocks;
	to->temporary += from->temporary;
	to->short_lived += from->short_lived;
	add_variance(&to->variance, &from->variance);
	to->largest = from->largest > to->largest ? from->largest : to->largest;
	to->before_largest = from->before_largest > to->before_largest ? from->before_largest : to->before_largest;
}

static uint64_t sort_number(const struct tpa_sums *sums, const struct order *order)
{
	switch (order->sort[0]) {
	case 'a':
		return sums->allocations;
	case 't':
		return sums->temporary;
	case 's':
		return sums->short_lived;
	case 'l':
		return tpa_sums_largest(sums, order->what);
	default:
		break;
	}
	return strcmp(order->sort, "blocks") == 0 ? tpa_sums_blocks(sums, order->what)
						  : tpa_sums_bytes(sums, order->what);
}

static struct order order_of(const struct tpa_rows_options *options)
{
	const char *sort = options->sort ? options->sort : "bytes";

	return (struct order){ sort, options->what, options->held_last && strcmp(sort, "bytes") == 0 };
}

static void add_by_stack(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index,
			 struct tpa_symbols *symbols, const struct tpa_site *site, bool read)
{
	const struct tpa_rows_options *options = &builder->options;
	bool held = options->what == TPA_WHAT_PEAK || options->what == TPA_WHAT_UNFREED;
	size_t number = (size_t)(site - process->sites);
	const struct tpa_site_stack *stack = tpa_site_stacks_at(options->stacks, process, index, symbols, number,
								read ? &builder->stack : NULL, held);
	struct order order = order_of(options);
	struct tpa_sums sums = tpa_sums_of(site);
	struct tpa_stack_amounts amounts = { sort_number(&sums, &order), tpa_sums_bytes(&sums, options->what),
					     order.sort[0] == 'l' };

	tpa_sums_add(&builder->rows->held[held ? stack->holder : TPA_HOLDER_NONE], &sums);
	tpa_stack_rows_add(builder->by_stack, stack, number, held, &amounts);
}

/* Adds a site to the row of a key. It counts once in `total`, even if the key is in its stack or chain of layers several times. */
static struct tpa_row *add(struct tpa_rows_builder *builder, uint64_t key, uint64_t kind, const struct tpa_sums *sums,
			   bool own)
{
	struct tpa_rows *rows = builder->rows;
	struct tpa_row *row = tpa_row_index_at(&builder->index, key, kind, &rows->rows, sizeof(*row));

	rows->count = builder->index.count;
	if (tpa_row_index_once(&builder->index, (size_t)(row - rows->rows)))
		tpa_sums_add(&row->total, sums);
	if (own) {
		row->sites++;
		tpa_sums_add(&row->self, sums);
	}
	return row;
}

static void add_line(struct tpa_rows_builder *builder, const struct tpa_line *line, const struct tpa_sums *sums,
		     bool own, size_t process)
{
	uint64_t key = tpa_row_index_line(&builder->index, line, tpa_by_line_key(builder->options.by));
	struct tpa_row *row = add(builder, key, 0, sums, own);

	if (!row->line.location && line) {
		row->line = *line;
		row->process = process;
	}
}

static void add_by_line(struct tpa_rows_builder *builder, const struct tpa_sums *sums, size_t process)
{
	const struct tpa_stack *stack = &builder->stack;
	const struct tpa_line *own = tpa_stack_own(stack);

	if (!own)
		add_line(builder, NULL, sums, true, process);
	/* Lines further in than the own line are the allocator's plumbing: they get no row. */
	for (size_t i = own ? (size_t)(own - stack->lines) : stack->last; i < stack->last; i++)
		add_line(builder, &stack->lines[i], sums, &stack->lines[i] == own, process);
}

/* By thread and step, each process has rows of its own: thread 1 of one process is not thread 1 of another. */
static void add_by_key(struct tpa_rows_builder *builder, uint64_t key, const struct tpa_sums *sums, size_t process)
{
	bool own = builder->options.by == TPA_BY_THREAD || builder->options.by == TPA_BY_STEP;
	struct tpa_row *row = add(builder, key, own ? process : 0, sums, true);

	row->key = key;
	row->process = process;
}

/* Adds a site to the row of an op or layer, which is the same row for all processes. `own`: the op is the site's innermost. */
static void add_op(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index, uint32_t op,
		   const struct tpa_sums *sums, bool own)
{
	const char *name = tpa_process_op_name(process, op);
	struct tpa_row *row = add(builder, tpa_row_index_op(&builder->index, name), 0, sums, own);

	row->op = name;
	row->process = index;
}

/*
 * Adds a site to the totals of all layers around it. A layer's total is what was allocated in it and in its inner layers; a site
 * counts once even if the layer is nested in itself.
 */
static void add_layers(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index,
		       uint64_t innermost, const struct tpa_sums *sums)
{
	const struct tpa_op_node *nodes = process->op_nodes;

	for (uint32_t node = (uint32_t)innermost; node; node = nodes[node].parent)
		if (tpa_op_is_layer(process->trace, nodes[node].op))
			add_op(builder, process, index, nodes[node].op, sums, false);
}

static bool is_relevant(const struct tpa_site *site, enum tpa_what what)
{
	switch (what) {
	case TPA_WHAT_PEAK:
		return site->peak_blocks != 0;
	case TPA_WHAT_UNFREED:
		return site->live_blocks != 0;
	case TPA_WHAT_TEMPORARY:
		return site->temporary != 0;
	default:
		return site->allocations != 0;
	}
}

static void add_site(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index,
		     struct tpa_symbols *symbols, const struct tpa_site *site)
{
	const struct tpa_rows_options *options = &builder->options;
	bool by_key = tpa_by_key(options->by);
	/* Without a filter, rows by key need no stacks, and rows by stack use the cached ones. */
	bool read = options->filter || options->suppressions || (!by_key && options->by != TPA_BY_STACK);
	struct tpa_sums sums = tpa_sums_of(site);

	tpa_sums_add(&builder->rows->all, &sums);
	if (read)
		tpa_stack_read(&builder->stack, process->trace, symbols, site->node);
	if (options->filter && !tpa_row_index_matches(&builder->index, &builder->stack, options->filter))
		return;
	if (options->suppressions &&
	    tpa_suppressions_match(options->suppressions, &builder->stack, site->live_blocks, site->live_bytes)) {
		builder->rows->suppressed_sites++;
		tpa_sums_add(&builder->rows->suppressed, &sums);
		return;
	}
	tpa_sums_add(&builder->rows->sums, &sums);
	tpa_row_index_next(&builder->index);
	if (options->by == TPA_BY_OP || options->by == TPA_BY_LAYER)
		add_op(builder, process, index, site->op, &sums, true);
	else if (by_key)
		add_by_key(builder, site->key, &sums, index);
	else if (options->by == TPA_BY_STACK)
		add_by_stack(builder, process, index, symbols, site, read);
	else
		add_by_line(builder, &sums, index);
	if (options->by == TPA_BY_LAYER)
		add_layers(builder, process, index, site->key, &sums);
}

void tpa_rows_add(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index,
		  struct tpa_symbols *symbols)
{
	builder->rows->unseen = tpa_unseen_larger(builder->rows->unseen, process->unseen);
	if (builder->by_stack)
		tpa_stack_rows_process(builder->by_stack, process, index, symbols);
	for (size_t i = 0; i < process->site_count; i++)
		if (is_relevant(&process->sites[i], builder->options.what))
			add_site(builder, process, index, symbols, &process->sites[i]);
}

/* Breaks ties, so that equal rows have the same order in every run of the analyzer. */
static int compare_names(const struct tpa_row *a, const struct tpa_row *b)
{
	return TPA_UP(a->key, b->key) ?: tpa_row_names_compare(&a->line, a->op, &b->line, b->op) ?:
	       TPA_UP(a->process, b->process) ?: TPA_UP(a->node, b->node);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct tpa_row *a = left, *b = right;
	const struct order *order = context;
	struct order bytes = { "bytes", order->what, false };
	uint64_t x = sort_number(&a->self, order), y = sort_number(&b->self, order);

	if (x == y)
		x = sort_number(&a->self, &bytes), y = sort_number(&b->self, &bytes);
	if (x == y)
		x = sort_number(&a->total, order), y = sort_number(&b->total, order);
	return TPA_DOWN(x, y) ?: compare_names(a, b);
}

/* Reports sum estimates over the rows in order, with their variances, so all rows must be filled in. */
static void end_by_stack(struct tpa_rows_builder *builder, const struct order *order)
{
	struct tpa_rows *rows = builder->rows;
	uint64_t top = tpa_rows_estimated(rows) || builder->options.top > SIZE_MAX ? 0 : builder->options.top;

	tpa_stack_rows_end(builder->by_stack, rows, (size_t)top, order->what, order->held_last);
}

struct tpa_rows *tpa_rows_end(struct tpa_rows_builder *builder)
{
	struct tpa_rows *rows = builder->rows;
	struct order order = order_of(&builder->options);

	if (builder->by_stack) {
		end_by_stack(builder, &order);
	} else if (rows->count) {
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare_rows, &order);
		rows->shown = rows->count;
	}
	tpa_row_index_free(&builder->index);
	tpa_stack_rows_free(builder->by_stack);
	tpa_stack_free(&builder->stack);
	free(builder);
	return rows;
}

size_t tpa_rows_for_share(const struct tpa_rows *peak, double share, uint64_t *bytes)
{
	size_t count = 0;

	*bytes = 0;
	while (count < peak->count && (double)*bytes < share * (double)peak->all.peak_bytes)
		*bytes += peak->bytes[count++];
	return count;
}

double tpa_sums_bytes_variance(const struct tpa_sums *sums, enum tpa_what what)
{
	const struct tpa_variance *variance = &sums->variance;

	return what == TPA_WHAT_PEAK	  ? variance->peak_bytes
	       : what == TPA_WHAT_UNFREED ? variance->live_bytes
					  : variance->bytes;
}

double tpa_sums_blocks_variance(const struct tpa_sums *sums, enum tpa_what what)
{
	const struct tpa_variance *variance = &sums->variance;

	return what == TPA_WHAT_PEAK	  ? variance->peak_blocks
	       : what == TPA_WHAT_UNFREED ? variance->live_blocks
					  : variance->allocations;
}
