/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and folding stacks. */
#include "report/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096 /* deeper than any TPROF_DEPTH that makes sense; the rest is counted as cut */

/* Whole names of functions that hand out memory. Python's are here because every object passes through them. */
static const char *const allocator_names[] = {
	"tprof_pool_alloc",
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"posix_memalign",
	"aligned_alloc",
	"valloc",
	"pvalloc",
	"free",
	"cfree",
	"mallocx",
	"rallocx",
	"xallocx",
	"dallocx",
	"sdallocx",
	"mmap",
	"mmap64",
	"mremap",
	"munmap",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_memalign",
	"__mmap",
	"__mmap64",
	"_mid_memalign",
	"__rust_alloc",
	"__rust_alloc_zeroed",
	"__rust_realloc",
	"__rdl_alloc",
	"__rdl_alloc_zeroed",
	"__rdl_realloc",
	"PyMem_Malloc",
	"PyMem_Calloc",
	"PyMem_Realloc",
	"PyMem_RawMalloc",
	"PyMem_RawCalloc",
	"PyMem_RawRealloc",
	"PyObject_Malloc",
	"PyObject_Calloc",
	"PyObject_Realloc",
	"_PyObject_Malloc",
	"_PyObject_Calloc",
	"_PyObject_Realloc",
	"_PyMem_RawMalloc",
	"_PyMem_RawCalloc",
	"_PyMem_RawRealloc",
	"_PyObject_ArenaMmap",
	"_PyMem_ArenaAlloc",
	"pymalloc_alloc",
	"new_arena",
	"allocate_from_new_pool",
	NULL,
};

/* Beginnings of names of the same kind. */
static const char *const allocator_prefixes[] = {
	"operator new",
	"operator delete",
	"__gnu_cxx::new_allocator<",
	"std::__new_allocator<",
	"std::allocator<",
	"std::allocator_traits<",
	"__gnu_cxx::__alloc_traits<",
	"alloc::alloc::",
	"<alloc::alloc::Global",
	"std::__allocate_guarded<",
	NULL,
};

static const char *const allocator_modules[] = {
	"libtprof.so", "libjemalloc.so", "libtcmalloc", "libmimalloc", "libc_malloc_debug.so", NULL,
};

/* Wrappers and containers: true lines of a stack, but nobody wants to hear that std::vector allocates. */
static const char *const plumbing_prefixes[] = {
	"std::",
	"__gnu_cxx::",
	"void std::",
	"alloc::",
	"<alloc::",
	"core::",
	"<core::",
	"<std::",
	"<T as alloc::",
	"<T as core::",
	"<T as std::",
	"<I as core::",
	"<I as alloc::",
	"hashbrown::",
	"<hashbrown::",
	"c10::alloc_cpu(",
	"c10::DefaultCPUAllocator::",
	"c10::StorageImpl::",
	"c10::GetCPUAllocator",
	NULL,
};

static const char *const plumbing_names[] = {
	"g_malloc",	"g_malloc0",	 "g_realloc",	   "g_malloc_n", "g_malloc0_n", "g_realloc_n",
	"g_try_malloc", "g_slice_alloc", "g_slice_alloc0", "xmalloc",	 "xcalloc",	"xrealloc",
	"xzalloc",	"xmemdup",	 "xstrdup",	   "strdup",	 "strndup",	"__strdup",
	"__strndup",	"g_strdup",	 "g_strndup",	   "asprintf",	 "vasprintf",	"__vasprintf_internal",
	"___asprintf",	"__asprintf",	 "av_malloc",	   "av_mallocz", "av_realloc",	"sk_malloc_flags",
	NULL,
};

static const char *const start_names[] = {
	"_start",
	"__libc_start_main",
	"__libc_start_call_main",
	"__libc_start_main_impl",
	"start_thread",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"_dl_start_user",
	"_dl_start",
	"_dl_init",
	"call_init",
	"_dl_start_final",
	"__libc_csu_init",
	"execute_native_thread_routine",
	"_dl_runtime_resolve",
	"_dl_main",
	"dl_main",
	"_dl_sysdep_start",
	"thread_start",
	NULL,
};

static bool in_names(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool has_prefix(const char *const *prefixes, const char *name)
{
	for (; *prefixes; prefixes++)
		if (strncmp(*prefixes, name, strlen(*prefixes)) == 0)
			return true;
	return false;
}

bool tp_is_allocator(const struct tp_location *location, const struct tp_symbol *symbol)
{
	const char *name = location->function;

	if (location->python)
		return false;
	if (has_prefix(allocator_modules, symbol->module))
		return true;
	if (!name)
		return false;
	return in_names(allocator_names, name) || has_prefix(allocator_prefixes, name) ||
	       (strncmp(name, "std::", 5) == 0 && strstr(name, "::_M_allocate"));
}

/* Or of the language's plumbing? */
static bool is_plumbing(const struct tp_location *location, const struct tp_symbol *symbol)
{
	if (tp_is_allocator(location, symbol))
		return true;
	if (!location->function || location->python)
		return false;
	return has_prefix(plumbing_prefixes, location->function) || in_names(plumbing_names, location->function);
}

/* Of the start-up code? */
static bool is_start(const struct tp_location *location)
{
	const char *name = location->function;

	if (!name || location->python)
		return false;
	/* Symbol versions stay in the name where the table has them: __libc_start_main@@GLIBC_2.34. */
	if (strncmp(name, "__libc_start_main", 17) == 0)
		return true;
	return in_names(start_names, name);
}

static bool add_line(struct tp_stack *stack, const struct tp_line *line)
{
	if (stack->count == stack->capacity) {
		size_t capacity = stack->capacity ? 2 * stack->capacity : 128;
		struct tp_line *lines = realloc(stack->lines, capacity * sizeof(*lines));

		if (!lines)
			return false;
		stack->lines = lines;
		stack->capacity = capacity;
	}
	stack->lines[stack->count++] = *line;
	return true;
}

/* A start-up frame without a name is known by its place, outermost: the loader, libc, libstdc++ where threads begin. */
static bool is_start_line(const struct tp_line *line)
{
	static const char *const modules[] = { "ld-linux", "libc.so", "libstdc++.so", "libpthread.so", NULL };

	const char *file = line->location->file;

	if (is_start(line->location) || (!line->location->function && has_prefix(modules, line->symbol->module)))
		return true;
	/* What std::thread puts between the thread's start and the function that it was given. */
	return file && (strstr(file, "/bits/std_thread.h") || strstr(file, "/bits/invoke.h"));
}

/* Rust marks where its start-up code ends, and the program's begins, with a function made for that. */
static size_t rust_start(const struct tp_stack *stack, size_t first, size_t last)
{
	for (size_t i = last; i-- > first;) {
		const char *name = stack->lines[i].location->function;

		if (!name || !strstr(name, "::__rust_begin_short_backtrace"))
			continue;
		name = i > first + 1 ? stack->lines[i - 1].location->function : NULL;
		return name && strncmp(name, "core::ops::function::FnOnce::", 29) == 0 ? i - 1 : i;
	}
	return last;
}

static void fold(struct tp_stack *stack)
{
	size_t first = 0, last = stack->count;

	while (first < last && tp_is_allocator(stack->lines[first].location, stack->lines[first].symbol))
		first++;
	while (last > first && is_start_line(&stack->lines[last - 1]))
		last--;
	last = rust_start(stack, first, last);
	/* Nothing but such frames: then they are what there is to tell. */
	if (first == last && stack->count) {
		first = first == stack->count ? 0 : first;
		last = stack->count;
	}
	stack->first = first;
	stack->last = last;
}

/* Which frames of a stack are shown. */
struct view {
	const struct tp_trace *trace;
	const struct tp_module *interpreter; /* NULL: no Python frame is in the stack */
	size_t python;			     /* index of the innermost Python frame */
	size_t program;			     /* index of the innermost frame that is not the collector's */
	enum tp_language language;
	bool interpreters; /* the interpreter's own frames are shown */
};

static struct view view_of(const struct tp_trace *trace, const struct tp_symbols *symbols, const uint32_t *frames,
			   size_t count)
{
	const struct tp_symbols_options *options = tp_symbols_options(symbols);
	struct view view = { .trace = trace,
			     .python = count,
			     .program = count,
			     .language = options->language,
			     .interpreters = options->interpreter };

	for (size_t i = 0; i < count; i++) {
		const struct tp_frame *frame = &trace->frames[frames[i]];

		if (view.program == count && !(frame->module && frame->module->collector))
			view.program = i;
		if (frame->code && view.python == count)
			view.python = i;
		if (!frame->code && frame->flags & TPROF_FRAME_LOOP && !view.interpreter)
			view.interpreter = frame->module;
	}
	if (view.python == count && view.language == TP_LANGUAGE_PYTHON)
		view.language = TP_LANGUAGE_MIXED;
	if (view.python == count || view.language == TP_LANGUAGE_NATIVE)
		view.interpreter = NULL;
	return view;
}

/* Python leaves it out of tracebacks too. */
bool tp_frame_is_import(const struct tp_trace *trace, const struct tp_frame *frame)
{
	const char *file = frame->code < trace->code_count ? trace->codes[frame->code].file : NULL;

	return file && strncmp(file, "<frozen importlib._bootstrap", 28) == 0;
}

/* The interpreter's own frames outside of a Python frame only say that it is run. */
static bool is_hidden(const struct view *view, const struct tp_frame *frame, size_t i)
{
	if (frame->code)
		return view->language == TP_LANGUAGE_NATIVE ||
		       (!view->interpreters && tp_frame_is_import(view->trace, frame));
	if (view->language == TP_LANGUAGE_PYTHON)
		return true;
	if (i > view->program && frame->module &&
	    frame->module->collector) /* what a hooked function is called through */
		return true;
	return !view->interpreters && i > view->python && frame->module && frame->module == view->interpreter;
}

bool tp_stack_read(struct tp_stack *stack, const struct tp_trace *trace, struct tp_symbols *symbols, uint32_t node)
{
	uint32_t frames[FRAMES_MAX];
	struct view view;
	size_t count;

	stack->count = stack->first = stack->last = 0;
	stack->end = TPROF_NODE_NONE;
	count = tp_trace_stack(trace, node, frames, FRAMES_MAX, &stack->end);
	if (count > FRAMES_MAX) {
		count = FRAMES_MAX;
		stack->end = TPROF_NODE_CUT;
	}
	view = view_of(trace, symbols, frames, count);
	for (size_t i = 0; i < count; i++) {
		const struct tp_frame *frame = &trace->frames[frames[i]];
		const struct tp_symbol *symbol;

		if (is_hidden(&view, frame, i))
			continue;
		symbol = tp_symbols_frame(symbols, frames[i]);
		for (size_t l = 0; l < symbol->count; l++) {
			struct tp_line line = { &symbol->locations[l], symbol, frame->module, frame->pc, frames[i] };

			if (!add_line(stack, &line))
				return false;
		}
	}
	stack->interpreter = view.interpreter;
	fold(stack);
	return true;
}

void tp_stack_free(struct tp_stack *stack)
{
	free(stack->lines);
	memset(stack, 0, sizeof(*stack));
}

bool tp_line_matches(const struct tp_line *line, const regex_t *filter)
{
	const struct tp_location *location = line->location;

	return (location->function && regexec(filter, location->function, 0, NULL, 0) == 0) ||
	       (location->file && regexec(filter, location->file, 0, NULL, 0) == 0) ||
	       regexec(filter, line->symbol->path, 0, NULL, 0) == 0;
}

bool tp_stack_matches(const struct tp_stack *stack, const regex_t *filter)
{
	for (size_t i = 0; i < stack->count; i++)
		if (tp_line_matches(&stack->lines[i], filter))
			return true;
	return false;
}

/* In a stripped module the static functions have no names, but the exported ones that call them do. */
static const struct tp_line *named_caller(const struct tp_stack *stack, size_t i)
{
	const struct tp_module *module = stack->lines[i].module;

	for (size_t k = i; k < stack->last && stack->lines[k].module == module; k++)
		if (stack->lines[k].location->function || stack->lines[k].location->file)
			return &stack->lines[k];
	return &stack->lines[i];
}

const struct tp_line *tp_stack_own(const struct tp_stack *stack)
{
	for (size_t i = stack->first; i < stack->last; i++)
		if (!is_plumbing(stack->lines[i].location, stack->lines[i].symbol) &&
		    !(stack->interpreter && stack->lines[i].module == stack->interpreter))
			return named_caller(stack, i);
	return stack->first < stack->last ? &stack->lines[stack->first] : NULL;
}

const char *tp_line_name(const struct tp_line *line, char *buffer, size_t size)
{
	if (line->location->function)
		return line->location->function;
	if (line->module)
		snprintf(buffer, size, "%s+0x%" PRIx64, line->symbol->module, line->address - line->module->bias);
	else
		snprintf(buffer, size, "0x%" PRIx64, line->address);
	return buffer;
}

const char *tp_line_place(const struct tp_line *line, const char *cwd, char *buffer, size_t size)
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
