/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/fork_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct tpa_line *innermost(const struct tpa_stack *stack,
					bool (*is_wanted)(const struct tpa_stack *, const struct tpa_line *))
{
	for (size_t i = stack->first; i < stack->last; i++)
		if (is_wanted(stack, &stack->lines[i]))
			return &stack->lines[i];
	return NULL;
}

static const struct tpa_line *choose(const struct tpa_stack *stack)
{
	return tpa_stack_user_line(stack)	 ?:
	       innermost(stack, is_own)	 ?:
	       innermost(stack, is_python)	 ?:
	       innermost(stack, is_of_program) ?:
					   tpa_stack_own(stack);
}

static char *key_of(const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	char name[400];

	return tpa_format("%s\n%s:%d", tpa_line_name(line, name, sizeof(name)), location->file ? location->file : "",
			  location->line);
}

/* The process's own place, if another one was not forked at the same stack: workers of a pool were. */
static size_t forked_alike(const struct tpa_run *run, size_t index)
{
	const struct tpa_process *process = &run->processes[index], *before = index ? process - 1 : NULL;

	return before && before->parent == process->parent && before->fork_node == process->fork_node ? index - 1
												      : index;
}

static void find_one(struct tpa_fork_lines *lines, const struct tpa_run *run, struct tpa_symbols *const *symbols,
		     size_t index)
{
	const struct tpa_process *process = &run->processes[index];
	struct tpa_stack stack = { 0 };
	const struct tpa_line *line;
	size_t same = forked_alike(run, index);

	if (!process->fork_node || process->parent >= run->process_count)
		return;
	if (same != index) {
		lines->lines[index] = lines->lines[same];
		lines->keys[index] = lines->keys[same] ? tpa_format("%s", lines->keys[same]) : NULL;
		return;
	}
	tpa_stack_read(&stack, run->processes[process->parent].trace, symbols[process->parent], process->fork_node);
	line = choose(&stack);
	if (line) {
		lines->lines[index] = *line;
		lines->keys[index] = key_of(line);
	}
	tpa_stack_free(&stack);
}

struct tpa_fork_lines tpa_fork_lines_find(const struct tpa_run *run, struct tpa_symbols *const *symbols)
{
	struct tpa_fork_lines lines = { tpa_zalloc(run->process_count + 1, sizeof(*lines.lines)),
					tpa_zalloc(run->process_count + 1, sizeof(*lines.keys)), run->process_count };

	for (size_t i = 0; i < run->process_count; i++)
		find_one(&lines, run, symbols, i);
	return lines;
}

void tpa_fork_lines_free(struct tpa_fork_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->keys[i]);
	free(lines->keys);
	free(lines->lines);
	*lines = (struct tpa_fork_lines){ NULL, NULL, 0 };
}

const char *tpa_fork_line_text(const struct tpa_line *line, const struct tpa_trace *parent, char *text, size_t size)
{
	char name[400], place[1100];
	const char *function = tpa_line_name(line, name, sizeof(name));
	const char *file = tpa_file_name(tpa_line_place(line, parent->cwd, place, sizeof(place)));

	if (strcmp(function, "<module>") == 0)
		snprintf(text, size, "%s", file);
	else
		snprintf(text, size, "%s (%s)", function, file);
	return text;
}
