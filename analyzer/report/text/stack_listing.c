/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/stack_listing.h"

#include <stdio.h>
#include <string.h>

#include "report/rows/stack.h"
#include "report/text/name.h"

#define LINES_HEAD 14 /* of a stack in full: so many from its inner end, so many from its outer one */
#define LINES_TAIL 3
#define LINES_PYTHON 10 /* and of Python's, wherever they stand, so many; then fewer native ones before them */
#define LINES_INNER 6

/* Function and place of a line, aligned: names that are too long for the page lose their middle. */
static void print_line(const struct tpa_page *page, const struct tpa_line *line, const char *cwd, int name_columns,
		       bool own)
{
	char name[300], place[1024], shorter[1200], where[1024];
	const char *function = tpa_line_name(line, name, sizeof(name));
	int room = page->width - 8 - name_columns - 2 - (line->location->inlined ? 10 : 0);
	int pad;

	tpa_short_name(page, function, name_columns, shorter, sizeof(shorter));
	pad = name_columns - tpa_text_columns(page, shorter);
	fputs("        ", page->out);
	tpa_print(page, own ? TPA_STYLE_FUNCTION : TPA_STYLE_PLAIN, "%s", shorter);
	tpa_line_place(line, cwd, place, sizeof(place));
	tpa_shorten_front(page, place, room > 20 ? room : 20, where, sizeof(where));
	fprintf(page->out, "%*s  ", pad > 0 ? pad : 0, "");
	tpa_print(page, TPA_STYLE_DIM, "%s%s\n", where, line->location->inlined ? " (inlined)" : "");
}

static int name_width(const struct tpa_page *page, const struct tpa_stack *stack, size_t first)
{
	int width = 12, most = (page->width - 10) * 3 / 5;
	char name[300], shorter[1200];

	for (size_t i = first; i < stack->last; i++) {
		const char *text = tpa_line_name(&stack->lines[i], name, sizeof(name));
		int columns = tpa_text_columns(page, tpa_short_name(page, text, most, shorter, sizeof(shorter)));

		width = columns > width ? columns : width;
	}
	return width > most ? most : width;
}

static const char *end_words(uint32_t end)
{
	switch (end) {
	case TPROF_NODE_CUT:
		return "(deeper than TPROF_DEPTH: outer frames are missing)";
	case TPROF_NODE_SHORT:
		return "(the walk ended here: outer frames may be missing)";
	case TPROF_NODE_NONE:
		return "(the stack was not recorded)";
	default:
		return NULL;
	}
}

/* The lines of a long stack that are printed: its inner end, its outer one, and Python's between them. */
struct shown {
	size_t first, head, tail, python; /* Python lines from [head] on, until so many were printed */
	bool all;
};

static struct shown choose_lines(const struct tpa_stack *stack, const struct tpa_line *own)
{
	struct shown shown = { .python = LINES_PYTHON };

	/* Of the plumbing only the part that the own line called: std::vector::resize, not what that is made of. */
	shown.first = own && own > stack->lines + stack->first ? (size_t)(own - stack->lines) - 1 : stack->first;
	shown.all = stack->last - shown.first <= LINES_HEAD + LINES_TAIL + 1;
	shown.head = shown.first + LINES_HEAD;
	shown.tail = stack->last - (shown.all ? 0 : LINES_TAIL);
	for (size_t i = shown.head; !shown.all && i < stack->last; i++) {
		if (stack->lines[i].location->python) {
			shown.head = shown.first + LINES_INNER;
			break;
		}
	}
	return shown;
}

static bool is_shown(struct shown *shown, const struct tpa_stack *stack, size_t i)
{
	if (shown->all || i < shown->head || i >= shown->tail)
		return true;
	if (!stack->lines[i].location->python || !shown->python)
		return false;
	shown->python--;
	return true;
}

static void print_gap(const struct tpa_page *page, size_t hidden)
{
	if (hidden)
		tpa_print(page, TPA_STYLE_DIM, "        %s %zu more frame%s\n", page->utf8 ? "\xe2\x8b\xae" : "...",
			  hidden, tpa_plural(hidden));
}

void tpa_stack_print(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
		     uint32_t node)
{
	struct tpa_stack stack = { NULL };
	const struct tpa_line *own;
	struct shown shown;
	size_t hidden = 0;
	int width;

	tpa_stack_read(&stack, trace, symbols, node);
	own = tpa_stack_own(&stack);
	shown = choose_lines(&stack, own);
	width = name_width(page, &stack, shown.first);
	for (size_t i = shown.first; i < stack.last; i++) {
		if (!is_shown(&shown, &stack, i)) {
			hidden++;
			continue;
		}
		print_gap(page, hidden);
		hidden = 0;
		print_line(page, &stack.lines[i], trace->cwd, width, &stack.lines[i] == own);
	}
	if (end_words(stack.end))
		tpa_print(page, TPA_STYLE_DIM, "        %s\n", end_words(stack.end));
	tpa_stack_free(&stack);
}

/* The next caller of Python's, where own is native: which line of the program it is says more than what calls what. */
static size_t next_shown(const struct tpa_stack *stack, size_t i)
{
	if (stack->lines[i].location->python)
		return i + 1;
	for (size_t k = i + 1; k < stack->last; k++)
		if (stack->lines[k].location->python)
			return k;
	return i + 1;
}

/* A file's own code, run as it is imported: all of them are called the same. */
static bool is_module_body(const struct tpa_line *line)
{
	return line->location->python && line->location->function && strcmp(line->location->function, "<module>") == 0;
}

/* " < caller", with its place if it is the first of Python's behind native ones, or has no name of its own. */
static void add_caller(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_line *line,
		       bool placed, char *text, size_t size)
{
	const char *arrow = page->utf8 ? "\xe2\x86\x90" : "<";
	char name[300], place[512], shorter[300];
	size_t used = strlen(text);

	tpa_short_name(page, tpa_line_name(line, name, sizeof(name)), 32, shorter, sizeof(shorter));
	tpa_line_place(line, trace->cwd, place, sizeof(place));
	if (placed || is_module_body(line))
		snprintf(text + used, size - used, " %s %s (%s)", arrow, shorter, tpa_file_name(place));
	else
		snprintf(text + used, size - used, " %s %s", arrow, shorter);
}

/* "function (file:line, via what it called)" */
static void describe_own(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_stack *stack,
			 const struct tpa_line *own, char *text, size_t size)
{
	const char *format = own->location->function ? "%s (%s" : "%s (no name", *via;
	char name[300], place[512], shorter[300];
	size_t used;

	tpa_short_name(page, tpa_line_name(own, name, sizeof(name)), 48, shorter, sizeof(shorter));
	tpa_line_place(own, trace->cwd, place, sizeof(place));
	snprintf(text, size, format, shorter, tpa_file_name(place));
	used = strlen(text);
	via = own > stack->lines + stack->first ? own[-1].location->function : NULL;
	if (via) /* what the own line called of the language's plumbing */
		tpa_short_name(page, via, 32, shorter, sizeof(shorter));
	snprintf(text + used, size - used, via ? ", via %s)" : ")", shorter);
}

void tpa_stack_describe(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
			uint32_t node, char *text, size_t size)
{
	struct tpa_stack stack = { NULL };
	const struct tpa_line *own;

	snprintf(text, size, "(stack not recorded)");
	tpa_stack_read(&stack, trace, symbols, node);
	own = tpa_stack_own(&stack);
	if (own) {
		size_t i = (size_t)(own - stack.lines), next;

		describe_own(page, trace, &stack, own, text, size);
		for (; (next = next_shown(&stack, i)) < stack.last; i = next) {
			if (strlen(text) + 80 > size || tpa_text_columns(page, text) > page->width)
				break;
			add_caller(page, trace, &stack.lines[next],
				   stack.lines[next].location->python && !stack.lines[i].location->python, text, size);
		}
	}
	tpa_stack_free(&stack);
}
