/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/file_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "base/arena.h"

struct tpa_file_lines_impl {
	struct tpa_arena *arena; /* files, each text once */
	struct tpa_pairs index;	 /* (file, line) to its place in the list */
	size_t capacity;
};

struct tpa_file_lines *tpa_file_lines_new(void)
{
	struct tpa_file_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->impl = calloc(1, sizeof(*lines->impl));
	if (lines->impl)
		lines->impl->arena = tpa_arena_new();
	if (lines->impl && lines->impl->arena)
		return lines;
	tpa_file_lines_free(lines);
	return NULL;
}

void tpa_file_lines_free(struct tpa_file_lines *lines)
{
	if (!lines)
		return;
	if (lines->impl) {
		tpa_arena_free(lines->impl->arena);
		tpa_pairs_free(&lines->impl->index);
	}
	free(lines->impl);
	free(lines->list);
	free(lines);
}

static struct tpa_file_line *line_at(struct tpa_file_lines *lines, const char *file, int line, const char *function)
{
	struct tpa_file_lines_impl *impl = lines->impl;
	const char *name = tpa_arena_intern(impl->arena, file);
	bool found = false;
	uint32_t *index = name ? tpa_pairs_at(&impl->index, (uintptr_t)name, (uint64_t)(uint32_t)line, &found) : NULL;

	if (!index)
		return NULL;
	if (found)
		return &lines->list[*index];
	if (lines->count == impl->capacity) {
		size_t capacity = impl->capacity ? 2 * impl->capacity : 256;
		struct tpa_file_line *list = realloc(lines->list, capacity * sizeof(*list));

		if (!list)
			return NULL;
		lines->list = list;
		impl->capacity = capacity;
	}
	*index = (uint32_t)lines->count;
	lines->list[lines->count] = (struct tpa_file_line){ .file = name, .line = line, .function = function };
	return &lines->list[lines->count++];
}

struct tpa_file_line *tpa_file_lines_at(struct tpa_file_lines *lines, const struct tpa_line *line)
{
	return line_at(lines, line->location->file, line->location->line, line->location->function);
}

bool tpa_file_lines_add_rows(struct tpa_file_lines *lines, const struct tpa_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tpa_row *row = &rows->rows[i];
		struct tpa_file_line *line;

		if (!row->line.location || !row->line.location->file)
			continue;
		line = tpa_file_lines_at(lines, &row->line);
		if (!line)
			return false;
		tpa_sums_add(&line->self, &row->self);
		tpa_sums_add(&line->total, &row->total);
	}
	return true;
}

bool tpa_file_lines_add_cpu(struct tpa_file_lines *lines, const struct tpa_cpu_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tpa_cpu_row *row = &rows->rows[i];
		struct tpa_file_line *line;

		if (!row->line.location || !row->line.location->file)
			continue;
		line = tpa_file_lines_at(lines, &row->line);
		if (!line)
			return false;
		line->self_ns += row->self_ns;
		line->total_ns += row->total_ns;
	}
	return true;
}

/* Does the stack have the line's place in one of the lines before it? Recursion counts once. */
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

/* To the line that the memory is put down to, and to all that called it. */
static bool add_growth(struct tpa_file_lines *lines, const struct tpa_stack *stack, double rate)
{
	const struct tpa_line *own = tpa_stack_own(stack);

	for (size_t i = stack->first; i < stack->last; i++) {
		struct tpa_file_line *line;

		if (!stack->lines[i].location->file || was_there(stack, i))
			continue;
		line = tpa_file_lines_at(lines, &stack->lines[i]);
		if (!line)
			return false;
		line->total_growth += rate;
	}
	if (own && own->location->file) {
		struct tpa_file_line *line = tpa_file_lines_at(lines, own);

		if (!line)
			return false;
		line->growth += rate;
	}
	return true;
}

bool tpa_file_lines_add_growth(struct tpa_file_lines *lines, const struct tpa_process *process,
			       struct tpa_symbols *symbols)
{
	const struct tpa_growth_list *heap = &process->growth.heap;
	struct tpa_stack stack = { NULL };
	bool good = true;

	for (size_t i = 0; good && i < heap->leaks; i++)
		good = tpa_stack_read(&stack, process->trace, symbols, heap->list[i].node) &&
		       add_growth(lines, &stack, heap->list[i].rate);
	tpa_stack_free(&stack);
	return good;
}

static int by_place(const void *left, const void *right)
{
	const struct tpa_file_line *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	return order ? order : (a->line > b->line) - (a->line < b->line);
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

	if (a->self.peak_bytes != b->self.peak_bytes)
		return a->self.peak_bytes > b->self.peak_bytes ? -1 : 1;
	if (a->self.bytes != b->self.bytes)
		return a->self.bytes > b->self.bytes ? -1 : 1;
	return strcmp(a->file, b->file);
}

struct tpa_file_lines *tpa_file_lines_sums(const struct tpa_file_lines *lines)
{
	struct tpa_file_lines *files = tpa_file_lines_new();

	for (size_t i = 0; files && i < lines->count; i++) {
		const struct tpa_file_line *line = &lines->list[i];
		struct tpa_file_line *file = line_at(files, line->file, 0, NULL);

		if (!file) {
			tpa_file_lines_free(files);
			return NULL;
		}
		tpa_sums_add(&file->self, &line->self);
		file->growth += line->growth;
		file->self_ns += line->self_ns;
		file->total = file->self;
		file->total_ns = file->self_ns;
		file->total_growth = file->growth;
	}
	if (files && files->count)
		qsort(files->list, files->count, sizeof(*files->list), by_peak);
	return files;
}
