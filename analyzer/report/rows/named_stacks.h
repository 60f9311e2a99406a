/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks identified by names, comparable across processes and runs. A name is a function and the file name of its module,
 * without line or address. The stacks form a tree with the outermost function at the root. A stack is the number of its
 * innermost node, so equal stacks have equal numbers, and no stack has text until it is printed. Memory grows with the
 * number of nodes.
 *
 * Names are normalised so that they match between versions of a program: suffixes that compilers and linkers add
 * (.constprop.0, [clone .cold], @GLIBC_2.34) are removed, and so is all that follows .so in a library's file name. The
 * program's own module is just "the program", whatever its file is called. Recursion counts once: consecutive repeats of a
 * chain of up to TPA_NAMED_CYCLE functions collapse into one. All functions of a module that have no name share one name.
 */
#ifndef TPROF_REPORT_ROWS_NAMED_STACKS_H
#define TPROF_REPORT_ROWS_NAMED_STACKS_H

#include "base/pairs.h"
#include "report/rows/stack.h"
#include "base/arena.h"

#define TPA_NAMED_CYCLE 8u

struct tpa_named {
	const char *function; /* NULL: unnamed */
	const char *module;   /* NULL: the program itself */
	bool python;
};

struct tpa_named_node {
	uint32_t parent, name;
};

struct tpa_named_stacks {
	struct tpa_arena *arena;
	struct tpa_named *names; /* [0]: unknown */
	size_t name_count, name_room;
	struct tpa_named_node *nodes; /* [0]: the empty stack */
	size_t node_count, node_room;
	struct tpa_pairs texts;	    /* text of a name to its number */
	struct tpa_pairs locations; /* location in the current process to the number of its name */
	struct tpa_pairs children;  /* (node, name) to child node */
	const struct tpa_trace *trace;
	const char *program; /* file name; NULL: not known yet; "": several programs */
};

void tpa_named_init(struct tpa_named_stacks *stacks);
void tpa_named_free(struct tpa_named_stacks *stacks);

/* Starts a process: later lines and stacks belong to it. Its symbols must stay open until the next call. */
void tpa_named_process(struct tpa_named_stacks *stacks, const struct tpa_trace *trace);

/* Returns the number of the line's name. */
uint32_t tpa_named_line(struct tpa_named_stacks *stacks, const struct tpa_line *line);

/* Returns the number of a name that is not a function's, such as an op's or a module's. */
uint32_t tpa_named_text(struct tpa_named_stacks *stacks, const char *text);

/* Returns the number of a name that stands for the module of `name`, without a function. */
uint32_t tpa_named_module_of(struct tpa_named_stacks *stacks, uint32_t name);

/* Returns the stack in which the innermost function of `stack` calls `name`. 0 is the empty stack. */
uint32_t tpa_named_call(struct tpa_named_stacks *stacks, uint32_t stack, uint32_t name);

/* Returns the number of the stack made of the lines [first, stack->last). */
uint32_t tpa_named_stack(struct tpa_named_stacks *stacks, const struct tpa_stack *stack, size_t first);

/* The module of a name, as printed. */
const char *tpa_named_module(const struct tpa_named_stacks *stacks, const struct tpa_named *name);

/* "function in module", not shortened. The caller frees it. */
char *tpa_named_whole(const struct tpa_named_stacks *stacks, uint32_t name);

#endif
