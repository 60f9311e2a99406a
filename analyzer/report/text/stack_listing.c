/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/stack_listing.h"

#include <stdio.h>
#include <string.h>

#include "report/rows/own_code.h"
#include "report/rows/stack.h"
#include "report/text/name.h"

#define LINES_HEAD 14 /* a full stack shows this many lines from its inner end and this many from its outer end */
#define LINES_TAIL 3
#define LINES_PYTHON 10 /* this many Python lines, wherever they are, and then fewer native lines before them */
#define LINES_INNER 6

#define GAP_COLUMNS 4 /* columns of the mark for omitted callers */
#define OWN_LEAST 12  /* least columns of the own function if the user's name follows its place */

/* Prints function and place aligned; leaves out the middle of long names. */
static void print_line(const struct tpa_page *page, const struct tpa_line *line, const char *cwd, int name_columns,
		       bool own)
{
	char name[300], place[1024], shorter[1200], where[1024];
	const char *function = tpa_line_name(line, name, sizeof(name));
	const char *remark = line->location->inlined ? " (inlined)" : line->guessed ? " (guessed)" : "";
	int room = page->width - 8 - name_columns - 2 - (int)strlen(remark);
	int pad;

	tpa_short_name(page, function, name_columns, shorter, sizeof(shorter));
	pad = name_columns - tpa_text_columns(page, shorter);
	fputs("        ", page->out);
	tpa_print(page, own ? TPA_STYLE_FUNCTION : TPA_STYLE_PLAIN, "%s", shorter);
	tpa_line_place(line, cwd, place, sizeof(place));
	tpa_shorten_front(page, place, room > 20 ? room : 20, where, sizeof(where));
	fprintf(page->out, "%*s  ", pad > 0 ? pad : 0, "");
	tpa_print(page, TPA_STYLE_DIM, "%s%s\n", where, remark);
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

/* The printed lines of a long stack: its inner end, its outer end, and Python lines between them. */
struct shown {
	size_t first, head, tail, python; /* this many Python lines from [head] on */
	bool all;
};

static struct shown choose_lines(const struct tpa_stack *stack, const struct tpa_line *own)
{
	struct shown shown = { .python = LINES_PYTHON };

	/* Of the plumbing show only what the own line called: std::vector::resize, not its internals. */
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

/* The next Python caller if the own line is native: the program's line says more than the native call chain. */
static size_t next_shown(const struct tpa_stack *stack, size_t i)
{
	if (stack->lines[i].location->python)
		return i + 1;
	for (size_t k = i + 1; k < stack->last; k++)
		if (stack->lines[k].location->python)
			return k;
	return i + 1;
}

/* Is it a module's top-level code, run on import? All of it has the same name. */
static bool is_module_body(const struct tpa_line *line)
{
	return line->location->python && line->location->function && strcmp(line->location->function, "<module>") == 0;
}

/* " < caller", with its place if it is the first Python caller after native ones, or has no name of its own. */
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

/* Describes a line without a name by what it called: the language's plumbing or the allocator. */
static void describe_nameless(const struct tpa_page *page, const struct tpa_line *own, const char *called, char *text,
			      size_t size)
{
	char shorter[300];

	if (strncmp(called, "c10::alloc_cpu", strlen("c10::alloc_cpu")) == 0)
		snprintf(text, size, "tensor memory (c10::alloc_cpu)");
	else
		snprintf(text, size, "%s (called in %s)", tpa_short_name(page, called, 48, shorter, sizeof(shorter)),
			 own->symbol->module);
}

/* "function (file:line, via what it called)" */
static void describe_own(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_stack *stack,
			 const struct tpa_line *own, char *text, size_t size)
{
	const char *via = own > stack->lines + stack->first ? own[-1].location->function : NULL;
	char name[300], place[512], shorter[300];
	size_t used;

	if (via && !own->location->function && !own->location->file) {
		describe_nameless(page, own, via, text, size);
		return;
	}
	tpa_short_name(page, tpa_line_name(own, name, sizeof(name)), 48, shorter, sizeof(shorter));
	tpa_line_place(own, trace->cwd, place, sizeof(place));
	snprintf(text, size, "%s (%s", shorter, own->location->function ? tpa_file_name(place) : "no name");
	used = strlen(text);
	if (via)
		tpa_short_name(page, via, 32, shorter, sizeof(shorter));
	snprintf(text + used, size - used, via ? ", via %s)" : ")", shorter);
}

/* The first line from `i` on that the user wrote; stack->last if there is none. */
static size_t users_line(const struct tpa_stack *stack, size_t i)
{
	while (i < stack->last && !tpa_line_is_own(stack, &stack->lines[i]))
		i++;
	return i;
}

/* Do both the caller and the user's line fit? */
static bool both_fit(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_stack *stack,
		     size_t next, bool placed, const char *users, int room)
{
	char text[800] = "";

	add_caller(page, trace, &stack->lines[next], placed, text, sizeof(text));
	return tpa_text_columns(page, text) + tpa_text_columns(page, users) + GAP_COLUMNS <= room;
}

/* Skips to the user's line; shortens the middle of the text before it if necessary. */
static void skip_to_user(const struct tpa_page *page, const char *users, const char *place, int columns, char *text,
			 size_t size)
{
	const char *arrow = page->utf8 ? "\xe2\x86\x90" : "<", *dots = page->utf8 ? "\xe2\x80\xa6" : "..";
	int room = columns - tpa_text_columns(page, users) - GAP_COLUMNS;
	bool narrow = room < OWN_LEAST;
	char shorter[1200];

	if (narrow)
		room = columns - tpa_text_columns(page, place) - 3;
	tpa_shorten(page, text, room > 4 ? room : 4, shorter, sizeof(shorter));
	if (narrow)
		snprintf(text, size, "%s %s %s", shorter, arrow, place);
	else
		snprintf(text, size, "%s %s %s%s", shorter, arrow, dots, users);
}

/* Adds as many callers as fit. The first of the user's own lines, if any, always fits. */
static void add_callers(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_stack *stack,
			size_t i, int columns, char *text, size_t size)
{
	size_t user = users_line(stack, i), next;
	char users[800] = "", place[512] = "";

	if (user > i && user < stack->last) {
		add_caller(page, trace, &stack->lines[user], true, users, sizeof(users));
		tpa_line_place(&stack->lines[user], trace->cwd, place, sizeof(place));
	}
	for (; (next = next_shown(stack, i)) < stack->last; i = next) {
		bool placed =
			next == user || (stack->lines[next].location->python && !stack->lines[i].location->python);
		int room = columns - tpa_text_columns(page, text);

		if (strlen(text) + 120 > size)
			return;
		if (*users && (next >= user ? tpa_text_columns(page, users) > room
					    : !both_fit(page, trace, stack, next, placed, users, room))) {
			skip_to_user(page, users, tpa_file_name(place), columns, text, size);
			next = user;
		} else if (!*users && room <= 0) {
			return;
		} else {
			add_caller(page, trace, &stack->lines[next], placed, text, size);
		}
		if (next >= user)
			*users = '\0';
	}
}

void tpa_stack_describe(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
			uint32_t node, int columns, char *text, size_t size)
{
	struct tpa_stack stack = { NULL };
	const struct tpa_line *own;

	snprintf(text, size, "(stack not recorded)");
	tpa_stack_read(&stack, trace, symbols, node);
	own = tpa_stack_own(&stack);
	if (own) {
		describe_own(page, trace, &stack, own, text, size);
		add_callers(page, trace, &stack, (size_t)(own - stack.lines), columns, text, size);
	}
	tpa_stack_free(&stack);
}
