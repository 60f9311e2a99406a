/* SPDX-License-Identifier: Apache-2.0 */
#include "report/holders.h"

#include <string.h>

#include "report/suppressions.h"

#define ARENAS "Python's arenas of small objects"

/* Functions that allocate for what holds them, and the modules that they count in: another's of the same name does not. */
static const struct holder {
	const char *function, *module, *name;
} holders[] = {
	{ "^c10::Dispatcher::register", "libtorch", "torch's registry of operators" },
	{ "^c10::Dispatcher::findOrRegister", "libtorch", "torch's registry of operators" },
	{ "^torch::Library::_def", "libtorch", "torch's registry of operators" },
	{ "^torch::Library::_impl", "libtorch", "torch's registry of operators" },
	{ "^torch::jit::registerOperator", "libtorch", "torch's registry of operators" },
	{ "^npy_alloc_cache_dim$", "_multiarray_umath", "numpy's cache of shapes" },
	{ "^npy_alloc_cache", "_multiarray_umath", "numpy's small arrays, or its cache of their blocks" },
	{ "^PyUnicode_InternFromString$", "python3", "Python's interned strings" },
	{ "^PyUnicode_InternInPlace$", "python3", "Python's interned strings" },
	{ "^_PyUnicode_Intern", "python3", "Python's interned strings" },
	{ "^_PyObject_Arena", "python3", ARENAS },
	{ "^_PyMem_Arena", "python3", ARENAS },
	{ "^new_arena$", "python3", ARENAS },
};

static const struct {
	const char *module, *name;
} pools[] = {
	{ "^libgomp.so", "OpenMP's pool of threads" },
	{ "^libomp.so", "OpenMP's pool of threads" },
};

static const char *holder_of(const struct tp_line *line)
{
	for (size_t i = 0; line->location->function && i < sizeof(holders) / sizeof(holders[0]); i++)
		if (tp_pattern_match(holders[i].function, line->location->function) &&
		    tp_pattern_match(holders[i].module, line->symbol->module))
			return holders[i].name;
	return NULL;
}

/* A library without names that allocates for little else: only what it asked for itself counts, not what it called. */
static const char *pool_of(const struct tp_line *line)
{
	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		if (tp_pattern_match(pools[i].module, line->symbol->module))
			return pools[i].name;
	return NULL;
}

/*
 * From the inner end to the first line of Python's: what a Python function allocates is its own, though a registry may
 * have called it.
 */
const char *tp_stack_holder(const struct tp_stack *stack)
{
	const char *name = stack->first < stack->last ? pool_of(&stack->lines[stack->first]) : NULL;

	for (size_t i = stack->first; !name && i < stack->last && !stack->lines[i].location->python; i++)
		name = holder_of(&stack->lines[i]);
	return name;
}

const char *tp_node_holder(const struct tp_trace *trace, struct tp_symbols *symbols, uint32_t node)
{
	struct tp_stack stack = { NULL };
	const char *name = tp_stack_read(&stack, trace, symbols, node) ? tp_stack_holder(&stack) : NULL;

	tp_stack_free(&stack);
	return name;
}

/* Bytes of each mapping that a stack made, if all were of one size; else 0. */
static uint64_t mapping_size(const struct tp_process *process, uint32_t node, bool file)
{
	for (size_t i = 0; i < process->map_site_count; i++) {
		const struct tp_map_site *site = &process->map_sites[i];

		if (site->node == node && site->file == file)
			return site->calls && site->bytes % site->calls == 0 ? site->bytes / site->calls : 0;
	}
	return 0;
}

/*
 * Python itself maps nothing else of these sizes (Objects/obmalloc.c: ARENA_SIZE; 256 KiB before 3.10): its mmap module is a
 * library of its own, and stacks of threads are libc's.
 */
static bool is_arena(const struct tp_process *process, const struct tp_stack *stack, uint32_t node)
{
	uint64_t size = mapping_size(process, node, false);

	return (size == 1 << 20 || size == 1 << 18) && stack->first < stack->last &&
	       (tp_pattern_match("^python3", stack->lines[stack->first].symbol->module) ||
		tp_pattern_match("^libpython3", stack->lines[stack->first].symbol->module));
}

const char *tp_mapping_holder(const struct tp_process *process, struct tp_symbols *symbols, uint32_t node, bool file)
{
	struct tp_stack stack = { NULL };
	const char *name = NULL;

	if (!file && tp_stack_read(&stack, process->trace, symbols, node)) {
		name = tp_stack_holder(&stack);
		if (!name && is_arena(process, &stack, node))
			name = ARENAS;
	}
	tp_stack_free(&stack);
	return name;
}
