/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/known_caches.h"

#include <string.h>

#include "report/rows/own_code.h"
#include "report/rows/suppressions.h"

#define FRAMES_MAX 4096

static const char *const names[TPA_HOLDERS] = {
	[TPA_HOLDER_TORCH] = "torch's registry of operators",
	[TPA_HOLDER_NUMPY_SHAPES] = "numpy's cache of shapes",
	[TPA_HOLDER_NUMPY_BLOCKS] = "numpy's small arrays, or its cache of their blocks",
	[TPA_HOLDER_PYTHON_INTERNED] = "Python's interned strings",
	[TPA_HOLDER_PYTHON_ARENAS] = "Python's arenas of small objects",
	[TPA_HOLDER_PYTHON_START] = "Python's start",
	[TPA_HOLDER_PYTHON_IMPORTS] = "Python's imported modules",
	[TPA_HOLDER_OPENMP] = "OpenMP's pool of threads",
};

const char *tpa_holder_name(enum tpa_holder holder)
{
	return names[holder];
}

struct search {
	enum tpa_holder holder;
	bool nameless_python;		 /* a frame of the interpreter, whose file is not here */
	const struct tpa_symbol *caller; /* of the allocator's functions; NULL: not met yet */
	bool start;			 /* the interpreter's was seen */
};

static void look_at(struct search *search, const struct tpa_symbol *symbol)
{
	for (size_t l = 0; search->holder == TPA_HOLDER_NONE && l < symbol->count; l++) {
		const struct tpa_known *known = &symbol->locations[l].known;

		search->holder = known->holder;
		search->start |= known->interpreter_start;
		if (search->caller || known->allocator)
			continue;
		search->caller = symbol;
		if (search->holder == TPA_HOLDER_NONE)
			search->holder = known->pool;
	}
}

/*
 * From the innermost line of Python's outwards: is it import that runs, for itself or for nothing but installed modules,
 * whose own lines are run then? What the program's own modules do with their lines is theirs.
 */
static bool is_importing(const struct tpa_trace *trace, const uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[frames[i]];

		if (!frame->code)
			continue;
		if (tpa_frame_is_import(trace, frame))
			return true;
		if (frame->code >= trace->code_count || !tpa_python_is_installed(trace->codes[frame->code].file))
			return false;
	}
	return false;
}

bool tpa_node_is_import(const struct tpa_trace *trace, uint32_t node)
{
	uint32_t frames[FRAMES_MAX], end;
	size_t count = tpa_trace_stack(trace, node, frames, FRAMES_MAX, &end);

	return is_importing(trace, frames, count > FRAMES_MAX ? FRAMES_MAX : count);
}

/* Its file name is in the trace, wherever that is read. */
static bool is_interpreter(const char *module)
{
	return tpa_pattern_match("^python3", module) || tpa_pattern_match("^libpython3", module);
}

/* Outside of all lines of Python the interpreter starts; its functions' names, which say so otherwise, may not be here. */
static bool is_nameless_python(struct tpa_symbols *symbols, const struct tpa_frame *frame, uint32_t number)
{
	return frame->module && is_interpreter(tpa_symbols_frame(symbols, number)->module) &&
	       tpa_symbols_module_state(symbols, frame->module) != TPA_MODULE_OK &&
	       !tpa_symbols_module_is_named(symbols, frame->module);
}

/*
 * Searches from the inner end to the first Python frame: what a Python function allocates is its own, even if a registry
 * called it.
 */
static struct search search_of(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node)
{
	uint32_t frames[FRAMES_MAX], end;
	size_t count = tpa_trace_stack(trace, node, frames, FRAMES_MAX, &end);
	struct search search = { .holder = TPA_HOLDER_NONE };

	count = count > FRAMES_MAX ? FRAMES_MAX : count;
	for (size_t i = 0; i < count && search.holder == TPA_HOLDER_NONE; i++) {
		const struct tpa_frame *frame = &trace->frames[frames[i]];

		if (frame->code) {
			if (is_importing(trace, frames + i, count - i))
				search.holder = TPA_HOLDER_PYTHON_IMPORTS;
			return search;
		}
		look_at(&search, tpa_symbols_frame(symbols, frames[i]));
		search.nameless_python |= is_nameless_python(symbols, frame, frames[i]);
	}
	if ((search.start || search.nameless_python) && search.holder == TPA_HOLDER_NONE)
		search.holder = TPA_HOLDER_PYTHON_START;
	return search;
}

enum tpa_holder tpa_node_holder(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node)
{
	return search_of(trace, symbols, node).holder;
}

/* Bytes of each mapping that a stack made, if all were of one size; else 0. */
static uint64_t mapping_size(const struct tpa_process *process, uint32_t node, bool file)
{
	for (size_t i = 0; i < process->map_site_count; i++) {
		const struct tpa_map_site *site = &process->map_sites[i];

		if (site->node == node && site->file == file)
			return site->calls && site->bytes % site->calls == 0 ? site->bytes / site->calls : 0;
	}
	return 0;
}

/*
 * Python itself maps nothing else of these sizes (Objects/obmalloc.c: ARENA_SIZE; 256 KiB before 3.10): its mmap module is a
 * library of its own, and stacks of threads are libc's.
 */
static bool is_arena(const struct tpa_process *process, const struct tpa_symbol *caller, uint32_t node)
{
	uint64_t size;

	if (!caller || !is_interpreter(caller->module))
		return false;
	size = mapping_size(process, node, false);
	return size == 1 << 20 || size == 1 << 18;
}

enum tpa_holder tpa_mapping_holder(const struct tpa_process *process, struct tpa_symbols *symbols, uint32_t node,
				   bool file)
{
	struct search search;

	if (file)
		return TPA_HOLDER_NONE;
	search = search_of(process->trace, symbols, node);
	return is_arena(process, search.caller, node) ? TPA_HOLDER_PYTHON_ARENAS : search.holder;
}
