/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/file_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

struct tpa_file_lines *tpa_file_lines_new(void)
{
	struct tpa_file_lines *lines = tpa_zalloc(1, sizeof(*lines));

	lines->arena = tpa_arena_new();
	return lines;
}

void tpa_file_lines_free(struct tpa_file_lines *lines)
{
	tpa_arena_free(lines->arena);
	tpa_pairs_free(&lines->index);
	free(lines->list);
	free(lines);
}

static struct tpa_file_line *line_at(struct tpa_file_lines *lines, const char *file, int line, const char *function)
{
	const char *name = tpa_arena_intern(lines->arena, file);
	bool found;
	uint32_t *index = tpa_pairs_at(&lines->index, (uintptr_t)name, (uint64_t)(uint32_t)line, &found);

	if (!found) {
		tpa_grow(&lines->list, &lines->room, lines->count + 1, sizeof(*lines->list));
		*index = (uint32_t)lines->count;
		lines->list[lines->count++] =
			(struct tpa_file_line){ .file = name, .line = line, .function = function };
	}
	return &lines->list[*index];
}

struct tpa_file_line *tpa_file_lines_at(struct tpa_file_lines *lines, const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;

	return location && location->file ? line_at(lines, location->file, location->line, location->function) : NULL;
}

void tpa_file_lines_add_rows(struct tpa_file_lines *lines, const struct tpa_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct tpa_file_line *line = tpa_file_lines_at(lines, &rows->rows[i].line);

		if (line) {
			tpa_sums_add(&line->self, &rows->rows[i].self);
			tpa_sums_add(&line->total, &rows->rows[i].total);
		}
	}
}

void tpa_file_lines_add_cpu(struct tpa_file_lines *lines, const struct tpa_cpu_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct tpa_file_line *line = tpa_file_lines_at(lines, &rows->rows[i].line);

		if (line) {
			line->self_ns += rows->rows[i].self_ns;
			line->total_ns += rows->rows[i].total_ns;
		}
	}
}

/* Is the line's place also in one of the lines before it? A recursive line counts once. */
static bool was_there(const struct tpa_stack *stack, size_t line)
{
	const struct tpa_location *location = stack->lines[line].location;

	for (size_t i = stack->first; i < line; i++) {
		const struct tpa_location *other = stack->lines[i].location;

		if (other->file && other->line == location->line && strcmp(other->file, location->file) == 0)
			return true;
	}
	return false;
}

/* Adds to the line that the memory is put down to, and to the total of all lines in the stack. */
static void add_growth(struct tpa_file_lines *lines, const struct tpa_stack *stack, double rate)
{
	const struct tpa_line *own = tpa_stack_own(stack);

	for (size_t i = stack->first; i < stack->last; i++)
		if (stack->lines[i].location->file && !was_there(stack, i))
			tpa_file_lines_at(lines, &stack->lines[i])->total_growth += rate;
	if (own && own->location->file)
		tpa_file_lines_at(lines, own)->growth += rate;
}

void tpa_file_lines_add_growth(struct tpa_file_lines *lines, const struct tpa_process *process,
			       struct tpa_symbols *symbols)
{
	const struct tpa_growth_list *heap = &process->growth.heap;
	struct tpa_stack stack = { NULL };

	for (size_t i = 0; i < heap->leaks; i++) {
		tpa_stack_read(&stack, process->trace, symbols, heap->list[i].node);
		add_growth(lines, &stack, heap->list[i].rate);
	}
	tpa_stack_free(&stack);
}

static int by_place(const void *left, const void *right)
{
	const struct tpa_file_line *a = left, *b = right;

	return strcmp(a->file, b->file) ?: TPA_UP(a->line, b->line);
}

void tpa_file_lines_sort(struct tpa_file_lines *lines)
{
	if (lines->count)
		qsort(lines->list, lines->count, sizeof(*lines->list), by_place);
}

bool tpa_file_is(const char *file, const char *name)
{
	size_t length = strlen(file), wanted = strlen(name);

	if (wanted > length || strcmp(file + length - wanted, name) != 0)
		return false;
	return wanted == length || file[length - wanted - 1] == '/';
}

static int by_peak(const void *left, const void *right)
{
	const struct tpa_file_line *a = left, *b = right;

	return TPA_DOWN(a->self.peak_bytes, b->self.peak_bytes) ?: TPA_DOWN(a->self.bytes, b->self.bytes) ?:
	       strcmp(a->file, b->file);
}

struct tpa_file_lines *tpa_file_lines_sums(const struct tpa_file_lines *lines)
{
	struct tpa_file_lines *files = tpa_file_lines_new();

	for (size_t i = 0; i < lines->count; i++) {
		const struct tpa_file_line *line = &lines->list[i];
		struct tpa_file_line *file = line_at(files, line->file, 0, NULL);

		tpa_sums_add(&file->self, &line->self);
		file->growth += line->growth;
		file->self_ns += line->self_ns;
		file->total = file->self;
		file->total_ns = file->self_ns;
		file->total_growth = file->growth;
	}
	if (files->count)
		qsort(files->list, files->count, sizeof(*files->list), by_peak);
	return files;
}

/* ---- columns ---- */

/* The label of the row, which the context has in `more`. */
TPA_GETTER(label, struct tpa_file_line)
{
	(void)row;
	return (struct tpa_figure){ .text = context->more };
}

#define LINE(member) TPA_MEMBER(struct tpa_file_line, member), .no_zero = true, .missing = ""

const struct tpa_column tpa_file_line_columns[] = {
	{ "label", "line", TPA_UNIT_NUMBER, TPA_COMPUTED(label), .no_json = true },
	{ "peak_bytes", "at peak", TPA_UNIT_BYTES, LINE(self.peak_bytes) },
	{ "peak_blocks", NULL, TPA_UNIT_COUNT, LINE(self.peak_blocks) },
	{ "total_peak_bytes", "total", TPA_UNIT_BYTES, LINE(total.peak_bytes) },
	{ "total_peak_blocks", NULL, TPA_UNIT_COUNT, LINE(total.peak_blocks) },
	{ "allocated_bytes", "allocated", TPA_UNIT_BYTES, LINE(self.bytes) },
	{ "allocations", "calls", TPA_UNIT_COUNT, LINE(self.allocations) },
	{ "total_allocated_bytes", "total", TPA_UNIT_BYTES, LINE(total.bytes) },
	{ "total_allocations", NULL, TPA_UNIT_COUNT, LINE(total.allocations) },
	{ "unfreed_bytes", "unfreed", TPA_UNIT_BYTES, LINE(self.live_bytes) },
	{ "unfreed_blocks", NULL, TPA_UNIT_COUNT, LINE(self.live_blocks) },
	{ "total_unfreed_bytes", NULL, TPA_UNIT_BYTES, LINE(total.live_bytes) },
	{ "total_unfreed_blocks", NULL, TPA_UNIT_COUNT, LINE(total.live_blocks) },
	{ "growth_bytes_per_step", "a step", TPA_UNIT_MEAN_BYTES, LINE(growth) },
	{ "total_growth_bytes_per_step", "total a step", TPA_UNIT_MEAN_BYTES, LINE(total_growth) },
	{ "growth_bytes_per_second", "a second", TPA_UNIT_MEAN_BYTES, LINE(growth), .no_json = true },
	{ "total_growth_bytes_per_second", "total a second", TPA_UNIT_MEAN_BYTES, LINE(total_growth), .no_json = true },
	{ "cpu_ns", "CPU", TPA_UNIT_NS, LINE(self_ns) },
	{ "total_cpu_ns", "total", TPA_UNIT_NS, LINE(total_ns) },
	{ .key = NULL },
};
