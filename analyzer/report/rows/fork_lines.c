/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/fork_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "report/rows/own_code.h"

static bool is_own(const struct tpa_stack *stack, const struct tpa_line *line)
{
	return tpa_line_is_own(stack, line);
}

static bool is_python(const struct tpa_stack *stack, const struct tpa_line *line)
{
	(void)stack;
	return line->location->python;
}

static bool is_of_program(const struct tpa_stack *stack, const struct tpa_line *line)
{
	return line->module && strcmp(line->symbol->path, stack->trace->exe) == 0;
}

#define LINES_MOST 4u /* own lines of a stack, from the innermost on, that may name its place */

/* The lines that may name where a process was forked, and which of them does. */
struct place {
	struct tpa_line lines[LINES_MOST];
	const char *keys[LINES_MOST];	   /* of the lines */
	const char *functions[LINES_MOST]; /* of their functions */
	size_t count, chosen;
};

static size_t find(const struct tpa_stack *stack, size_t from,
		   bool (*is_wanted)(const struct tpa_stack *, const struct tpa_line *))
{
	while (from < stack->last && !is_wanted(stack, &stack->lines[from]))
		from++;
	return from;
}

static bool has_file(const struct tpa_stack *stack, const struct tpa_line *line)
{
	return line->location->file && is_own(stack, line);
}

static void add_line(struct place *place, struct tpa_arena *texts, const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	const char *file = location->file ? location->file : "";
	char buffer[400], text[2000];
	const char *name = tpa_line_name(line, buffer, sizeof(buffer));
	size_t last = place->count;

	snprintf(text, sizeof(text), "%s\n%s", name, file);
	place->functions[last] = tpa_arena_intern(texts, text);
	if (last && place->functions[last - 1] == place->functions[last])
		return; /* the same function, which was inlined or calls itself */
	snprintf(text, sizeof(text), "%s\n%s:%d", name, file, location->line);
	place->keys[last] = tpa_arena_intern(texts, text);
	place->lines[last] = *line;
	place->count++;
}

static void read_place(struct place *place, struct tpa_arena *texts, const struct tpa_stack *stack)
{
	static bool (*const wanted[])(const struct tpa_stack *, const struct tpa_line *) = { has_file, is_own,
											     is_python, is_of_program };
	size_t i;

	for (size_t kind = 0; kind < sizeof(wanted) / sizeof(*wanted) && !place->count; kind++)
		for (i = find(stack, stack->first, wanted[kind]); i < stack->last && place->count < LINES_MOST;
		     i = find(stack, i + 1, wanted[kind]))
			add_line(place, texts, &stack->lines[i]);
	if (!place->count && tpa_stack_own(stack))
		add_line(place, texts, tpa_stack_own(stack));
}

/* Of a pool's workers only the first one's stack need be read. */
static bool is_forked_alike(const struct tpa_process *a, const struct tpa_process *b)
{
	return a->parent == b->parent && a->fork_node == b->fork_node;
}

static struct place *read_places(const struct tpa_run *run, struct tpa_symbols *const *symbols, struct tpa_arena *texts)
{
	struct place *places = tpa_zalloc(run->process_count + 1, sizeof(*places));
	struct tpa_stack stack = { 0 };

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *process = &run->processes[i];

		if (!process->fork_node || process->parent >= run->process_count)
			continue;
		if (i && is_forked_alike(process, process - 1)) {
			places[i] = places[i - 1];
			continue;
		}
		tpa_stack_read(&stack, run->processes[process->parent].trace, symbols[process->parent],
			       process->fork_node);
		read_place(&places[i], texts, &stack);
	}
	tpa_stack_free(&stack);
	return places;
}

/* Were others forked at the same line, but in another caller's name? Then the line is one of a helper. */
static bool is_helper(const struct place *places, size_t count, const struct place *place)
{
	size_t at = place->chosen;

	for (size_t i = 0; i < count; i++) {
		const struct place *other = &places[i];

		if (other->count > at + 1 && other->chosen == at && other->keys[at] == place->keys[at] &&
		    other->functions[at + 1] != place->functions[at + 1])
			return true;
	}
	return false;
}

/* Goes from helpers to their callers. */
static void leave_helpers(struct place *places, size_t count)
{
	bool *leaves = tpa_zalloc(count + 1, sizeof(*leaves));

	for (size_t round = 0; round + 1 < LINES_MOST; round++) {
		for (size_t i = 0; i < count; i++)
			leaves[i] = places[i].count > places[i].chosen + 1 && is_helper(places, count, &places[i]);
		for (size_t i = 0; i < count; i++)
			places[i].chosen += leaves[i];
	}
	free(leaves);
}

struct tpa_fork_lines tpa_fork_lines_find(const struct tpa_run *run, struct tpa_symbols *const *symbols)
{
	struct tpa_fork_lines lines = { tpa_zalloc(run->process_count + 1, sizeof(*lines.lines)),
					tpa_zalloc(run->process_count + 1, sizeof(*lines.called)),
					tpa_zalloc(run->process_count + 1, sizeof(*lines.keys)), tpa_arena_new() };
	struct place *places = read_places(run, symbols, lines.texts);

	leave_helpers(places, run->process_count);
	for (size_t i = 0; i < run->process_count; i++) {
		if (!places[i].count)
			continue;
		lines.lines[i] = places[i].lines[places[i].chosen];
		lines.keys[i] = places[i].keys[places[i].chosen];
		if (places[i].chosen && !lines.lines[i].location->function)
			lines.called[i] = places[i].lines[places[i].chosen - 1];
	}
	free(places);
	return lines;
}

void tpa_fork_lines_free(struct tpa_fork_lines *lines)
{
	tpa_arena_free(lines->texts);
	free(lines->keys);
	free(lines->called);
	free(lines->lines);
	*lines = (struct tpa_fork_lines){ NULL, NULL, NULL, NULL };
}

const char *tpa_fork_line_text(const struct tpa_fork_lines *lines, const struct tpa_run *run, size_t process,
			       char *text, size_t size)
{
	const struct tpa_line *line = &lines->lines[process], *called = &lines->called[process];
	const struct tpa_trace *parent = run->processes[run->processes[process].parent].trace;
	char name[400], place[1100], inner[400];
	const char *function = tpa_line_name(line, name, sizeof(name));
	const char *file = tpa_file_name(tpa_line_place(line, parent->cwd, place, sizeof(place)));

	if (called->location)
		snprintf(text, size, "%s, called at %s", tpa_line_name(called, inner, sizeof(inner)), function);
	else if (strcmp(function, "<module>") == 0)
		snprintf(text, size, "%s", file);
	else if (!line->location->function && !line->location->file)
		snprintf(text, size, "%s", function);
	else
		snprintf(text, size, "%s (%s)", function, file);
	return text;
}
