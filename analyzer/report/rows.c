/* SPDX-License-Identifier: Apache-2.0 */
/* Putting sites together. */
#include "report/rows.h"

#include <stdlib.h>
#include <string.h>

#include "model/op_tree.h"
#include "report/row_index.h"
#include "report/suppressions.h"

struct tp_rows_builder {
	struct tp_rows_options options;
	struct tp_rows *rows;
	struct tp_row_index index;
	struct tp_stack stack;
};

const char *tp_by_name(enum tp_by by)
{
	static const char *const names[] = { "stack", "function", "line", "module", "thread",
					     "size",  "op",	  "step", "layer" };

	return by < sizeof(names) / sizeof(names[0]) ? names[by] : NULL;
}

uint64_t tp_sums_bytes(const struct tp_sums *sums, enum tp_what what)
{
	switch (what) {
	case TP_WHAT_PEAK:
		return sums->peak_bytes;
	case TP_WHAT_UNFREED:
		return sums->live_bytes;
	default:
		return sums->bytes;
	}
}

uint64_t tp_sums_blocks(const struct tp_sums *sums, enum tp_what what)
{
	switch (what) {
	case TP_WHAT_PEAK:
		return sums->peak_blocks;
	case TP_WHAT_UNFREED:
		return sums->live_blocks;
	case TP_WHAT_TEMPORARY:
		return sums->temporary;
	default:
		return sums->allocations;
	}
}

struct tp_rows_builder *tp_rows_begin(const struct tp_rows_options *options)
{
	struct tp_rows_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	builder->options = *options;
	builder->rows = calloc(1, sizeof(*builder->rows));
	if (builder->rows && tp_row_index_init(&builder->index))
		return builder;
	tp_rows_free(tp_rows_end(builder));
	return NULL;
}

void tp_rows_free(struct tp_rows *rows)
{
	if (!rows)
		return;
	free(rows->rows);
	free(rows);
}

static struct tp_sums sums_of(const struct tp_site *site)
{
	return (struct tp_sums){
		.allocations = site->allocations,
		.bytes = site->bytes,
		.peak_bytes = site->peak_bytes,
		.peak_blocks = site->peak_blocks,
		.live_bytes = site->live_bytes,
		.live_blocks = site->live_blocks,
		.temporary = site->temporary,
		.short_lived = site->short_lived,
		.largest = site->largest,
		.variance = site->variance,
	};
}

static void add_variance(struct tp_variance *to, const struct tp_variance *from)
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

void tp_sums_add(struct tp_sums *to, const struct tp_sums *from)
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
}

/* The row of a key; NULL: memory is out. */
static struct tp_row *row_at(struct tp_rows_builder *builder, uint64_t key, uint64_t kind)
{
	struct tp_row *row = tp_row_index_at(&builder->index, key, kind, &builder->rows->rows, sizeof(*row));

	builder->rows->count = builder->index.count;
	return row;
}

static void add_born(struct tp_row *row, const struct tp_born *born)
{
	if (row->sites == 1)
		row->born = *born;
	row->born.first = born->first < row->born.first ? born->first : row->born.first;
	row->born.last = born->last > row->born.last ? born->last : row->born.last;
}

/* Bits of a row's kind, beside the place of its op's text: an address below 2^47. */
static uint64_t kind_of(const struct tp_rows_builder *builder, const char *op, enum tp_holder holder)
{
	return (uint64_t)holder << 56 | (uint64_t)(uintptr_t)op << 1 | (builder->stack.end == TPROF_NODE_CUT);
}

static bool add_by_stack(struct tp_rows_builder *builder, const struct tp_site *site, size_t process, const char *op,
			 enum tp_holder holder)
{
	const char *key = tp_row_index_op(&builder->index, op);
	const struct tp_line *own = tp_stack_own(&builder->stack);
	struct tp_sums sums = sums_of(site);
	struct tp_row *row;
	uint32_t chain;

	if (!key || !tp_row_index_chain(&builder->index, &builder->stack, builder->stack.first, &chain))
		return false;
	row = row_at(builder, chain, kind_of(builder, key, holder));
	if (!row)
		return false;
	if (!row->sites) {
		row->node = site->node;
		row->process = process;
		row->op = op;
		row->holder = holder;
		if (own)
			row->line = *own;
	}
	row->sites++;
	tp_sums_add(&row->self, &sums);
	tp_sums_add(&builder->rows->held[holder], &sums);
	row->total = row->self;
	add_born(row, builder->options.what == TP_WHAT_PEAK ? &site->peak_born : &site->live_born);
	return true;
}

/* To the row's total once a site, however often it is in the site's stack, or chain of layers. */
static void add_sums(struct tp_rows_builder *builder, struct tp_row *row, const struct tp_sums *sums, bool own)
{
	if (tp_row_index_once(&builder->index, (size_t)(row - builder->rows->rows)))
		tp_sums_add(&row->total, sums);
	if (own) {
		row->sites++;
		tp_sums_add(&row->self, sums);
	}
}

static bool add_to_total(struct tp_rows_builder *builder, const struct tp_line *line, const struct tp_sums *sums,
			 bool own, size_t process)
{
	static const enum tp_key kinds[] = {
		[TP_BY_FUNCTION] = TP_KEY_FUNCTION, [TP_BY_LINE] = TP_KEY_PLACE, [TP_BY_MODULE] = TP_KEY_MODULE
	};
	const char *key = line ? tp_keys_get(&builder->index.keys, line, kinds[builder->options.by]) : "";
	struct tp_row *row = key ? row_at(builder, line ? (uintptr_t)key : 0, 0) : NULL;

	if (!row)
		return false;
	if (!row->line.location && line) {
		row->line = *line;
		row->process = process;
	}
	add_sums(builder, row, sums, own);
	return true;
}

static bool add_by_line(struct tp_rows_builder *builder, const struct tp_site *site, size_t process)
{
	const struct tp_stack *stack = &builder->stack;
	const struct tp_line *own = tp_stack_own(stack);
	struct tp_sums sums = sums_of(site);

	tp_row_index_next(&builder->index);
	if (!own)
		return add_to_total(builder, NULL, &sums, true, process);
	/* Lines nearer to the allocator than the own one are its plumbing: they get nothing. */
	for (size_t i = (size_t)(own - stack->lines); i < stack->last; i++)
		if (!add_to_total(builder, &stack->lines[i], &sums, &stack->lines[i] == own, process))
			return false;
	return true;
}

/* By thread and step the rows of different processes stay apart: their thread 1 is not the same thread. */
static bool add_by_key(struct tp_rows_builder *builder, const struct tp_site *site, size_t process)
{
	bool own = builder->options.by == TP_BY_THREAD || builder->options.by == TP_BY_STEP;
	struct tp_row *row = row_at(builder, site->key, own ? process : 0);
	struct tp_sums sums = sums_of(site);

	if (!row)
		return false;
	row->key = site->key;
	row->process = process;
	row->sites++;
	tp_sums_add(&row->self, &sums);
	row->total = row->self;
	return true;
}

static bool add_by_op(struct tp_rows_builder *builder, const struct tp_site *site, size_t process, const char *op)
{
	const char *key = tp_row_index_op(&builder->index, op);
	struct tp_row *row = key ? row_at(builder, (uintptr_t)key, 0) : NULL;
	struct tp_sums sums = sums_of(site);

	if (!row)
		return false;
	row->op = op;
	row->process = process;
	row->sites++;
	tp_sums_add(&row->self, &sums);
	row->total = row->self;
	return true;
}

/* A layer's total is what was allocated in it and in the layers within: once, however often it is within itself. */
static bool add_to_layer(struct tp_rows_builder *builder, const struct tp_process *process, size_t index, uint32_t op,
			 const struct tp_sums *sums, bool own)
{
	const char *name = tp_process_op_name(process, op), *key = tp_row_index_op(&builder->index, name);
	struct tp_row *row = key ? row_at(builder, (uintptr_t)key, 0) : NULL;

	if (!row)
		return false;
	row->op = name;
	row->process = index;
	add_sums(builder, row, sums, own);
	return true;
}

static bool add_by_layer(struct tp_rows_builder *builder, const struct tp_process *process, size_t index,
			 const struct tp_site *site)
{
	struct tp_sums sums = sums_of(site);

	tp_row_index_next(&builder->index);
	if (!add_to_layer(builder, process, index, site->op, &sums, true))
		return false;
	for (uint32_t node = (uint32_t)site->key; node; node = process->op_nodes[node].parent)
		if (tp_op_is_layer(process->trace, process->op_nodes[node].op) &&
		    !add_to_layer(builder, process, index, process->op_nodes[node].op, &sums, false))
			return false;
	return true;
}

static bool is_relevant(const struct tp_site *site, enum tp_what what)
{
	switch (what) {
	case TP_WHAT_PEAK:
		return site->peak_blocks != 0;
	case TP_WHAT_UNFREED:
		return site->live_blocks != 0;
	case TP_WHAT_TEMPORARY:
		return site->temporary != 0;
	default:
		return site->allocations != 0;
	}
}

static bool is_held(enum tp_what what)
{
	return what == TP_WHAT_PEAK || what == TP_WHAT_UNFREED;
}

static bool add_site(struct tp_rows_builder *builder, const struct tp_process *process, size_t index,
		     struct tp_symbols *symbols, const struct tp_site *site)
{
	const struct tp_rows_options *options = &builder->options;
	const char *op = tp_process_op_name(process, site->op);
	bool by_key = tp_by_key(options->by);
	struct tp_sums sums = sums_of(site);

	tp_sums_add(&builder->rows->all, &sums);
	/* Without a filter the stacks of such rows need no names. */
	if ((!by_key || options->filter || options->suppressions) &&
	    !tp_stack_read(&builder->stack, process->trace, symbols, site->node))
		return false;
	if (options->filter && !tp_row_index_matches(&builder->index, &builder->stack, options->filter))
		return true;
	if (options->suppressions &&
	    tp_suppressions_match(options->suppressions, &builder->stack, site->live_blocks, site->live_bytes)) {
		builder->rows->suppressed_sites++;
		tp_sums_add(&builder->rows->suppressed, &sums);
		return true;
	}
	tp_sums_add(&builder->rows->sums, &sums);
	if (options->by == TP_BY_OP)
		return add_by_op(builder, site, index, op);
	if (options->by == TP_BY_LAYER)
		return add_by_layer(builder, process, index, site);
	if (by_key)
		return add_by_key(builder, site, index);
	if (options->by == TP_BY_STACK)
		return add_by_stack(builder, site, index, op,
				    is_held(options->what) ? tp_node_holder(process->trace, symbols, site->node)
							   : TP_HOLDER_NONE);
	return add_by_line(builder, site, index);
}

bool tp_rows_add(struct tp_rows_builder *builder, const struct tp_process *process, size_t index,
		 struct tp_symbols *symbols)
{
	if (process->estimated)
		builder->rows->estimated = true;
	for (size_t i = 0; i < process->site_count; i++)
		if (is_relevant(&process->sites[i], builder->options.what) &&
		    !add_site(builder, process, index, symbols, &process->sites[i]))
			return false;
	return true;
}

struct order {
	const char *sort;
	enum tp_what what;
	bool held_last;
};

static uint64_t sort_number(const struct tp_sums *sums, const struct order *order)
{
	switch (order->sort[0]) {
	case 'a':
		return sums->allocations;
	case 't':
		return sums->temporary;
	case 's':
		return sums->short_lived;
	case 'l':
		return sums->largest;
	default:
		break;
	}
	return strcmp(order->sort, "blocks") == 0 ? tp_sums_blocks(sums, order->what)
						  : tp_sums_bytes(sums, order->what);
}

/* The last resort, so that equal rows have the same order in every run of the analyzer. */
static int compare_names(const struct tp_row *a, const struct tp_row *b)
{
	int order;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	order = tp_row_names_compare(&a->line, a->op, &b->line, b->op);
	if (!order && a->process != b->process)
		order = a->process < b->process ? -1 : 1;
	return order ? order : a->node < b->node ? -1 : a->node > b->node;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct tp_row *a = left, *b = right;
	const struct order *order = context;
	struct order bytes = { "bytes", order->what, false };
	uint64_t x = sort_number(&a->self, order), y = sort_number(&b->self, order);

	if (order->held_last && !a->holder != !b->holder)
		return a->holder ? 1 : -1;
	if (x == y)
		x = sort_number(&a->self, &bytes), y = sort_number(&b->self, &bytes);
	if (x == y)
		x = sort_number(&a->total, order), y = sort_number(&b->total, order);
	return x != y ? (x > y ? -1 : 1) : compare_names(a, b);
}

struct tp_rows *tp_rows_end(struct tp_rows_builder *builder)
{
	struct tp_rows *rows = builder->rows;
	struct order order = { builder->options.sort ? builder->options.sort : "bytes", builder->options.what,
			       builder->options.held_last &&
				       (!builder->options.sort || strcmp(builder->options.sort, "bytes") == 0) };

	if (rows && rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare_rows, &order);
	tp_row_index_free(&builder->index);
	tp_stack_free(&builder->stack);
	free(builder);
	return rows;
}
