/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/known_caches.h"

#include <string.h>

#include "report/rows/own_code.h"
#include "report/rows/suppressions.h"

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
	bool nameless_python;		 /* a frame is in the interpreter, whose file is missing */
	const struct tpa_symbol *caller; /* the caller of the allocator; NULL: not found yet */
	bool start;			 /* a function of the interpreter's start was seen */
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
 * Is Python importing? Going outwards from the innermost Python frame, import must come before any frame that is not
 * of an installed module: what the program's own modules do when they are imported is theirs.
 */
static bool is_importing(const struct tpa_trace *trace, uint32_t node)
{
	for (; node >= TPROF_NODE_FIRST; node = trace->nodes[node].parent) {
		const struct tpa_frame *frame = &trace->frames[trace->nodes[node].frame];

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
	return node < trace->node_count && is_importing(trace, node);
}

/* Compares the file name in the trace, which any machine that reads it has. */
static bool is_interpreter(const char *module)
{
	return tpa_pattern_match("^python3", module) || tpa_pattern_match("^libpython3", module);
}

/*
 * A native frame of the interpreter outside all Python frames means that the interpreter starts. Its functions' names
 * usually say so, but they may be missing here.
 */
static bool is_nameless_python(struct tpa_symbols *symbols, const struct tpa_frame *frame, uint32_t number)
{
	return frame->module && tpa_symbols_module_state(symbols, frame->module) != TPA_MODULE_OK &&
	       !tpa_symbols_module_is_named(symbols, frame->module) &&
	       is_interpreter(tpa_symbols_frame(symbols, number)->module);
}

/*
 * Searches from the innermost frame to the first Python frame: what a Python function allocates is its own, even if a
 * registry called it.
 */
static struct search search_of(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node)
{
	struct search search = { .holder = TPA_HOLDER_NONE };

	if (node >= trace->node_count)
		node = TPROF_NODE_NONE;
	for (; node >= TPROF_NODE_FIRST && search.holder == TPA_HOLDER_NONE; node = trace->nodes[node].parent) {
		uint32_t number = trace->nodes[node].frame;
		const struct tpa_frame *frame = &trace->frames[number];

		if (frame->code) {
			if (is_importing(trace, node))
				search.holder = TPA_HOLDER_PYTHON_IMPORTS;
			return search;
		}
		look_at(&search, tpa_symbols_frame(symbols, number));
		search.nameless_python |= is_nameless_python(symbols, frame, number);
	}
	if ((search.start || search.nameless_python) && search.holder == TPA_HOLDER_NONE)
		search.holder = TPA_HOLDER_PYTHON_START;
	return search;
}

enum tpa_holder tpa_node_holder(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node)
{
	return search_of(trace, symbols, node).holder;
}

/* The size in bytes of the mappings made by a stack, if all have the same size; else 0. */
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
 * Python itself maps nothing else of these sizes (Objects/obmalloc.c: ARENA_SIZE; 256 KiB before 3.10): its mmap
 * module is a separate library, and libc maps threads' stacks.
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
