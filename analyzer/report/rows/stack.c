/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FRAMES_MAX 4096 /* more than any sensible TPROF_DEPTH; deeper stacks are cut */

static void add_line(struct tpa_stack *stack, const struct tpa_line *line)
{
	*TPA_APPEND(stack->lines, stack->count, stack->capacity) = *line;
}

/*
 * The end of the program's own lines in a Rust stack. Rust has a marker function between its start-up code and the program's code.
 */
static size_t rust_start(const struct tpa_stack *stack, size_t first, size_t last)
{
	for (size_t i = last; i-- > first;)
		if (stack->lines[i].location->known.rust_begin)
			return i > first + 1 && stack->lines[i - 1].location->known.rust_call ? i - 1 : i;
	return last;
}

static void fold(struct tpa_stack *stack)
{
	size_t first = 0, last = stack->count;

	while (first < last && stack->lines[first].location->known.allocator)
		first++;
	while (last > first && stack->lines[last - 1].location->known.start)
		last--;
	last = rust_start(stack, first, last);
	/* All frames would be folded away: show them instead. */
	if (first == last && stack->count) {
		first = first == stack->count ? 0 : first;
		last = stack->count;
	}
	stack->first = first;
	stack->last = last;
}

/* Python leaves these frames out of tracebacks too. */
bool tpa_frame_is_import(const struct tpa_trace *trace, const struct tpa_frame *frame)
{
	return frame->code < trace->code_count && trace->codes[frame->code].imports;
}

/* Which frames of a stack are shown. */
struct view {
	const struct tpa_trace *trace;
	const struct tpa_module *interpreter; /* NULL: no Python frame in the stack, or none is shown */
	size_t python;			      /* index of the innermost Python frame */
	size_t program;			      /* index of the innermost frame that is not the collector's */
	enum tpa_language language;
	bool interpreters; /* show the interpreter's own frames */
	bool imports;	   /* show Python's import machinery */
};

static struct view view_of(const struct tpa_trace *trace, const struct tpa_symbols_options *options,
			   const uint32_t *frames, size_t count)
{
	struct view view = { .trace = trace,
			     .python = count,
			     .program = count,
			     .language = options->language,
			     .interpreters = options->interpreter };
	bool others = false; /* there are Python frames beside the import machinery */

	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[frames[i]];

		if (view.program == count && !(frame->module && frame->module->collector))
			view.program = i;
		if (frame->code && view.python == count)
			view.python = i;
		others = others || (frame->code && !tpa_frame_is_import(trace, frame));
		if (!frame->code && frame->flags & TPROF_FRAME_LOOP && !view.interpreter)
			view.interpreter = frame->module;
	}
	if (view.python == count && view.language == TPA_LANGUAGE_PYTHON)
		view.language = TPA_LANGUAGE_MIXED;
	if (view.python == count || view.language == TPA_LANGUAGE_NATIVE)
		view.interpreter = NULL;
	/* If C code imports (as when Python starts), the import machinery is all there is to show. */
	view.imports = view.interpreters || (view.language == TPA_LANGUAGE_PYTHON && !others);
	return view;
}

/* Is frame `i` left out? The interpreter's own frames further out than a Python frame only say that it runs Python. */
static bool is_hidden(const struct view *view, const struct tpa_frame *frame, size_t i)
{
	if (frame->code)
		return view->language == TPA_LANGUAGE_NATIVE ||
		       (!view->imports && tpa_frame_is_import(view->trace, frame));
	if (view->language == TPA_LANGUAGE_PYTHON)
		return true;
	if (i > view->program && frame->module &&
	    frame->module->collector) /* the collector's wrapper around a hooked function */
		return true;
	return !view->interpreters && i > view->python && frame->module && frame->module == view->interpreter;
}

/* `guessed`: the frame was found without an unwind table. */
static void add_frame(struct tpa_stack *stack, const struct tpa_symbol *symbol, uint32_t number, bool guessed)
{
	const struct tpa_frame *frame = &stack->trace->frames[number];

	for (size_t l = 0; l < symbol->count; l++) {
		struct tpa_line line = { .location = &symbol->locations[l],
					 .symbol = symbol,
					 .module = frame->module,
					 .address = frame->pc,
					 .frame = number,
					 .guessed = guessed };

		add_line(stack, &line);
	}
}

static void read_as(struct tpa_stack *stack, const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node,
		    const struct tpa_symbols_options *options)
{
	uint32_t frames[FRAMES_MAX];
	struct view view;
	size_t count;
	bool guessed = false;

	stack->count = stack->first = stack->last = 0;
	stack->end = TPROF_NODE_NONE;
	stack->trace = trace;
	stack->symbols = symbols;
	stack->node = node;
	count = tpa_trace_stack(trace, node, frames, FRAMES_MAX, &stack->end);
	if (count > FRAMES_MAX) {
		count = FRAMES_MAX;
		stack->end = TPROF_NODE_CUT;
	}
	view = view_of(trace, options, frames, count);
	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[frames[i]];
		bool hidden = is_hidden(&view, frame, i);

		if (!hidden)
			add_frame(stack, tpa_symbols_frame(symbols, frames[i]), frames[i], guessed && !frame->code);
		guessed = tpa_frame_is_untabled(frame) || (guessed && (hidden || frame->code));
	}
	stack->interpreter = view.interpreter;
	fold(stack);
}

void tpa_stack_read(struct tpa_stack *stack, const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node)
{
	read_as(stack, trace, symbols, node, tpa_symbols_options(symbols));
}

void tpa_stack_read_mixed(struct tpa_stack *stack, const struct tpa_stack *same)
{
	struct tpa_symbols_options options = *tpa_symbols_options(same->symbols);

	options.language = TPA_LANGUAGE_MIXED;
	read_as(stack, same->trace, same->symbols, same->node, &options);
}

void tpa_stack_free(struct tpa_stack *stack)
{
	free(stack->lines);
	memset(stack, 0, sizeof(*stack));
}

bool tpa_line_matches(const struct tpa_line *line, const regex_t *filter)
{
	const struct tpa_location *location = line->location;

	return (location->function && regexec(filter, location->function, 0, NULL, 0) == 0) ||
	       (location->file && regexec(filter, location->file, 0, NULL, 0) == 0) ||
	       regexec(filter, line->symbol->path, 0, NULL, 0) == 0;
}

bool tpa_stack_matches(const struct tpa_stack *stack, const regex_t *filter)
{
	for (size_t i = 0; i < stack->count; i++)
		if (tpa_line_matches(&stack->lines[i], filter))
			return true;
	return false;
}

/* The next named line of the same module. In a stripped module, static functions have no names, but exported callers do. */
static const struct tpa_line *named_caller(const struct tpa_stack *stack, size_t i)
{
	const struct tpa_module *module = stack->lines[i].module;

	for (size_t k = i; k < stack->last && stack->lines[k].module == module; k++)
		if (stack->lines[k].location->function || stack->lines[k].location->file)
			return &stack->lines[k];
	return &stack->lines[i];
}

bool tpa_line_is_interpreters(const struct tpa_stack *stack, const struct tpa_line *line)
{
	return stack->interpreter && line->module == stack->interpreter;
}

const struct tpa_line *tpa_stack_own(const struct tpa_stack *stack)
{
	for (size_t i = stack->first; i < stack->last; i++)
		if (!stack->lines[i].location->known.plumbing && !tpa_line_is_interpreters(stack, &stack->lines[i]))
			return named_caller(stack, i);
	return stack->first < stack->last ? &stack->lines[stack->first] : NULL;
}

const char *tpa_line_name(const struct tpa_line *line, char *buffer, size_t size)
{
	if (line->location->function)
		return line->location->function;
	if (line->module)
		snprintf(buffer, size, "%s+0x%" PRIx64, line->symbol->module, line->address - line->module->bias);
	else
		snprintf(buffer, size, "0x%" PRIx64, line->address);
	return buffer;
}

const char *tpa_line_place(const struct tpa_line *line, const char *cwd, char *buffer, size_t size)
{
	const char *file = line->location->file;
	size_t length = cwd ? strlen(cwd) : 0;

	if (!file) {
		snprintf(buffer, size, "%s", line->symbol->module);
		return buffer;
	}
	if (length > 1 && strncmp(file, cwd, length) == 0 && file[length] == '/')
		file += length + 1;
	if (line->location->line)
		snprintf(buffer, size, "%s:%d", file, line->location->line);
	else
		snprintf(buffer, size, "%s", file);
	return buffer;
}

const char *tpa_file_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!slash || strncmp(name, "__init__.py", strlen("__init__.py")) != 0)
		return name;
	while (slash > path && slash[-1] != '/')
		slash--;
	return slash;
}
