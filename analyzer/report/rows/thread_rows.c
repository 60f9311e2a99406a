/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/thread_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/row_index.h"

/* CPU time, or bytes, of one function on one thread. */
struct part {
	struct tpa_line line;
	uint32_t thread;
	uint64_t weight;
};

struct parts {
	const struct tpa_process *process;
	struct tpa_symbols *symbols;
	struct tpa_row_index index; /* (key of the function, thread) to part */
	struct part *list;
	struct tpa_stack stack;
};

/* Finds rows by the number of the thread. */
struct threads {
	struct tpa_thread_row *rows;
	struct tpa_pairs index;
};

/* NULL: no such thread. */
static struct tpa_thread_row *row_of(struct threads *threads, uint64_t thread)
{
	bool found = false;
	const uint32_t *number = tpa_pairs_at(&threads->index, thread, 0, &found);

	return found ? &threads->rows[*number] : NULL;
}

static void begin_rows(struct tpa_thread_rows *rows, struct threads *threads, const struct tpa_process *process)
{
	rows->count = process->thread_count;
	rows->rows = threads->rows = tpa_zalloc(rows->count, sizeof(*rows->rows));
	for (size_t i = 0; i < rows->count; i++) {
		tpa_pairs_set(&threads->index, process->threads[i].thread, 0, (uint32_t)i);
		rows->rows[i].stats = process->threads[i];
	}
}

/* ---- memory ---- */

static void add_memory(struct threads *threads, const struct tpa_process *process)
{
	struct tpa_thread_row *row = NULL;

	for (size_t i = 0; i < process->site_count; i++) {
		const struct tpa_site *site = &process->sites[i];
		const struct tpa_variance variance = tpa_site_variance(site);

		if (!row || row->stats.thread != site->key)
			row = row_of(threads, site->key);
		if (!row)
			continue;
		row->peak_bytes += site->peak_bytes;
		row->peak_blocks += site->peak_blocks;
		row->live_bytes += site->live_bytes;
		row->live_blocks += site->live_blocks;
		row->peak_bytes_variance += variance.peak_bytes;
		row->peak_blocks_variance += variance.peak_blocks;
		row->live_bytes_variance += variance.live_bytes;
		row->live_blocks_variance += variance.live_blocks;
	}
}

/* ---- functions ---- */

/* Adds a stack's weight to its function: for samples the innermost one, for memory the one of the own line. */
static void add_part(struct parts *parts, uint32_t node, uint32_t thread, uint64_t weight, bool memory)
{
	const struct tpa_line *line;
	struct part *part;

	if (!weight)
		return;
	tpa_stack_read(&parts->stack, parts->process->trace, parts->symbols, node);
	line = memory ? tpa_stack_own(&parts->stack) : parts->stack.last ? &parts->stack.lines[0] : NULL;
	if (!line)
		return;
	part = tpa_row_index_at(&parts->index, tpa_row_index_line(&parts->index, line, TPA_KEY_FUNCTION), thread,
				&parts->list, sizeof(*part));
	if (!part->line.location)
		*part = (struct part){ .line = *line, .thread = thread };
	part->weight += weight;
}

/* Finds each thread's top function: by allocated bytes if `memory`, else by CPU time. */
static void add_lines(struct threads *threads, const struct tpa_process *process, struct tpa_symbols *symbols,
		      bool memory)
{
	struct parts parts = { .process = process, .symbols = symbols };

	tpa_row_index_init(&parts.index);
	for (size_t i = 0; !memory && i < process->cpu_site_count; i++)
		add_part(&parts, process->cpu_sites[i].node, process->cpu_sites[i].thread,
			 tpa_cpu_ns(process, &process->cpu_sites[i].cpu), false);
	for (size_t i = 0; memory && i < process->site_count; i++)
		add_part(&parts, process->sites[i].node, (uint32_t)process->sites[i].key, process->sites[i].bytes,
			 true);
	for (size_t i = 0; i < parts.index.count; i++) {
		struct tpa_thread_row *row = row_of(threads, parts.list[i].thread);
		uint64_t *most;

		if (!row)
			continue;
		most = memory ? &row->alloc_line_bytes : &row->cpu_line_ns;
		if (parts.list[i].weight <= *most)
			continue;
		*most = parts.list[i].weight;
		*(memory ? &row->alloc_line : &row->cpu_line) = parts.list[i].line;
	}
	tpa_row_index_free(&parts.index);
	tpa_stack_free(&parts.stack);
	free(parts.list);
}

/* ---- order ---- */

static uint64_t number(const struct tpa_thread_row *row, const char *sort)
{
	const struct tpa_thread_stats *stats = &row->stats;

	switch (sort[0]) {
	case 'c':
		return stats->cpu.periods;
	case 'o':
		return stats->op_ns;
	case 'a':
		return stats->allocations;
	case 'p':
		return row->peak_bytes;
	case 'u':
		return row->live_bytes;
	case 'b':
		return stats->bytes;
	case 'f': /* "frees", or "first": the earliest first */
		return sort[1] == 'r' ? stats->frees : UINT64_MAX - stats->first_ns;
	default:
		return UINT64_MAX - stats->thread;
	}
}

static int compare(const void *left, const void *right, void *sort)
{
	const struct tpa_thread_row *a = left, *b = right;
	uint64_t x = number(a, sort), y = number(b, sort);

	if (x == y)
		x = a->stats.bytes, y = b->stats.bytes;
	return TPA_DOWN(x, y) ?: TPA_UP(a->stats.thread, b->stats.thread);
}

void tpa_thread_rows(struct tpa_thread_rows *rows, const struct tpa_process *process, struct tpa_symbols *symbols,
		     const char *sort)
{
	struct threads threads = { NULL };

	begin_rows(rows, &threads, process);
	add_memory(&threads, process);
	add_lines(&threads, process, symbols, false);
	add_lines(&threads, process, symbols, true);
	tpa_pairs_free(&threads.index);
	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare, (void *)sort);
}

void tpa_thread_rows_free(struct tpa_thread_rows *rows)
{
	free(rows->rows);
	memset(rows, 0, sizeof(*rows));
}

/* ---- columns ---- */

TPA_GETTER(cpu_time, struct tpa_thread_stats)
{
	return (struct tpa_figure){ .number = (int64_t)tpa_cpu_ns(context->process, &row->cpu),
				    .none = !row->cpu.samples };
}

#define ROW(member) TPA_MEMBER(struct tpa_thread_row, member)
#define SOME(member) TPA_ESTIMATE(struct tpa_thread_row, member, member##_variance)

const struct tpa_column tpa_thread_columns[] = {
	{ "thread", "thread", TPA_UNIT_NUMBER, ROW(stats.thread) },
	{ "tid", "tid", TPA_UNIT_NUMBER, ROW(stats.tid) },
	{ "name", "name", TPA_UNIT_TEXT, TPA_CHARS(struct tpa_thread_row, stats.name) },
	{ "first_ns", "first seen", TPA_UNIT_NS, ROW(stats.first_ns) },
	{ "last_ns", "last seen", TPA_UNIT_NS, ROW(stats.last_ns) },
	{ "cpu_samples", NULL, TPA_UNIT_COUNT, ROW(stats.cpu.samples) },
	{ "cpu_ns", "CPU time", TPA_UNIT_NS, TPA_COMPUTED(cpu_time) },
	{ "op_ns", "in ops", TPA_UNIT_NS, ROW(stats.op_ns), .no_zero = true },
	{ "allocations", "allocations", TPA_UNIT_COUNT, SOME(stats.allocations) },
	{ "frees", "frees", TPA_UNIT_COUNT, SOME(stats.frees) },
	{ "bytes", "bytes", TPA_UNIT_BYTES, SOME(stats.bytes) },
	{ "peak_bytes", "at the peak", TPA_UNIT_BYTES, SOME(peak_bytes) },
	{ "peak_blocks", NULL, TPA_UNIT_COUNT, SOME(peak_blocks) },
	{ "unfreed_bytes", "unfreed", TPA_UNIT_BYTES, SOME(live_bytes) },
	{ "unfreed_blocks", NULL, TPA_UNIT_COUNT, SOME(live_blocks) },
	{ "top_cpu", NULL, .unit = TPA_UNIT_OTHER },
	{ "top_allocation", NULL, .unit = TPA_UNIT_OTHER },
	{ .key = NULL },
};
