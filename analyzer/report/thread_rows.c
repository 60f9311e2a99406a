/* SPDX-License-Identifier: Apache-2.0 */
#include "report/thread_rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/keys.h"

/* CPU time, or bytes, of one function on one thread. */
struct part {
	struct tp_line line;
	uint32_t thread;
	uint64_t weight;
};

struct parts {
	const struct tp_process *process;
	struct tp_symbols *symbols;
	struct tp_keys keys;
	struct tp_map index; /* (key of the function, thread) to part */
	struct part *list;
	size_t count, room;
	struct tp_stack stack;
};

static struct tp_thread_row *row_of(const struct tp_thread_rows *rows, uint64_t thread)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].stats->thread == thread)
			return &rows->rows[i];
	return NULL;
}

/* ---- memory ---- */

static void add_memory(const struct tp_thread_rows *rows, const struct tp_process *process)
{
	struct tp_thread_row *row = NULL;

	for (size_t i = 0; i < process->site_count; i++) {
		const struct tp_site *site = &process->sites[i];

		if (!row || row->stats->thread != site->key)
			row = row_of(rows, site->key);
		if (!row)
			continue;
		row->peak_bytes += site->peak_bytes;
		row->peak_blocks += site->peak_blocks;
		row->live_bytes += site->live_bytes;
		row->live_blocks += site->live_blocks;
		row->peak_bytes_variance += site->variance.peak_bytes;
		row->peak_blocks_variance += site->variance.peak_blocks;
		row->live_bytes_variance += site->variance.live_bytes;
		row->live_blocks_variance += site->variance.live_blocks;
	}
}

/* ---- functions ---- */

static struct part *part_at(struct parts *parts, const struct tp_line *line, uint32_t thread)
{
	const char *key = tp_keys_get(&parts->keys, line, TP_KEY_FUNCTION);
	bool found = false;
	uint32_t *number = key ? tp_map_at(&parts->index, (uintptr_t)key, thread, &found) : NULL;

	if (!number)
		return NULL;
	if (found)
		return &parts->list[*number];
	if (parts->count == parts->room) {
		size_t room = parts->room ? 2 * parts->room : 64;
		struct part *grown = realloc(parts->list, room * sizeof(*grown));

		if (!grown)
			return NULL;
		parts->list = grown;
		parts->room = room;
	}
	*number = (uint32_t)parts->count;
	parts->list[parts->count] = (struct part){ .line = *line, .thread = thread };
	return &parts->list[parts->count++];
}

/* A stack's weight goes to its own function: of samples the innermost, of memory the one that is behind the plumbing. */
static bool add_part(struct parts *parts, uint32_t node, uint32_t thread, uint64_t weight, bool memory)
{
	const struct tp_line *line;
	struct part *part;

	if (!weight)
		return true;
	if (!tp_stack_read(&parts->stack, parts->process->trace, parts->symbols, node))
		return false;
	line = memory ? tp_stack_own(&parts->stack) : parts->stack.last ? &parts->stack.lines[0] : NULL;
	part = line ? part_at(parts, line, thread) : NULL;
	if (part)
		part->weight += weight;
	return part || !line;
}

/* Empties the parts for the next question. */
static void forget(struct parts *parts)
{
	tp_map_free(&parts->index);
	memset(&parts->index, 0, sizeof(parts->index));
	parts->count = 0;
}

static bool add_cpu_lines(struct parts *parts, const struct tp_thread_rows *rows)
{
	const struct tp_process *process = parts->process;

	for (size_t i = 0; i < process->cpu_site_count; i++) {
		const struct tp_cpu_site *site = &process->cpu_sites[i];

		if (!add_part(parts, site->node, site->thread, tp_cpu_ns(process, &site->cpu), false))
			return false;
	}
	for (size_t i = 0; i < parts->count; i++) {
		struct tp_thread_row *row = row_of(rows, parts->list[i].thread);

		if (!row || parts->list[i].weight <= row->cpu_line_ns)
			continue;
		row->cpu_line = parts->list[i].line;
		row->cpu_line_ns = parts->list[i].weight;
	}
	return true;
}

static bool add_alloc_lines(struct parts *parts, const struct tp_thread_rows *rows)
{
	const struct tp_process *process = parts->process;

	for (size_t i = 0; i < process->site_count; i++)
		if (!add_part(parts, process->sites[i].node, (uint32_t)process->sites[i].key, process->sites[i].bytes,
			      true))
			return false;
	for (size_t i = 0; i < parts->count; i++) {
		struct tp_thread_row *row = row_of(rows, parts->list[i].thread);

		if (!row || parts->list[i].weight <= row->alloc_line_bytes)
			continue;
		row->alloc_line = parts->list[i].line;
		row->alloc_line_bytes = parts->list[i].weight;
	}
	return true;
}

static bool add_lines(const struct tp_thread_rows *rows, const struct tp_process *process, struct tp_symbols *symbols)
{
	struct parts parts = { .process = process, .symbols = symbols };
	bool good = tp_keys_init(&parts.keys) && add_cpu_lines(&parts, rows);

	forget(&parts);
	good = good && add_alloc_lines(&parts, rows);
	forget(&parts);
	tp_keys_free(&parts.keys);
	tp_stack_free(&parts.stack);
	free(parts.list);
	return good;
}

/* ---- order ---- */

static uint64_t number(const struct tp_thread_row *row, const char *sort)
{
	const struct tp_thread_stats *stats = row->stats;

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
	case 'f': /* frees; first: the earliest first */
		return sort[1] == 'r' ? stats->frees : UINT64_MAX - stats->first_ns;
	default:
		return UINT64_MAX - stats->thread;
	}
}

static int compare(const void *left, const void *right, void *sort)
{
	const struct tp_thread_row *a = left, *b = right;
	uint64_t x = number(a, sort), y = number(b, sort);

	if (x == y)
		x = a->stats->bytes, y = b->stats->bytes;
	if (x != y)
		return x > y ? -1 : 1;
	return (a->stats->thread > b->stats->thread) - (a->stats->thread < b->stats->thread);
}

bool tp_thread_rows(struct tp_thread_rows *rows, const struct tp_process *process, struct tp_symbols *symbols,
		    const char *sort)
{
	bool good;

	rows->rows = calloc(process->thread_count + 1, sizeof(*rows->rows));
	rows->count = rows->rows ? process->thread_count : 0;
	for (size_t i = 0; i < rows->count; i++)
		rows->rows[i].stats = &process->threads[i];
	add_memory(rows, process);
	good = rows->rows && add_lines(rows, process, symbols);
	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare, (void *)sort);
	return good;
}

void tp_thread_rows_free(struct tp_thread_rows *rows)
{
	free(rows->rows);
	memset(rows, 0, sizeof(*rows));
}
