/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks by the names in them, the same for all processes and runs that are put in: functions with their module's file
 * name, and neither lines nor addresses. They are a tree from the outermost function inwards: a stack is the number of
 * its innermost node, equal stacks are the same number, and there is no text of a stack until somebody prints it. Memory
 * grows with the tree's nodes.
 *
 * So that the next version of a program still matches: what compilers and linkers add to names (.constprop.0,
 * [clone .cold], @GLIBC_2.34) is left out, what stands behind .so in a library's file name too, and the program's own
 * module is the program, whatever its file is called. Recursion counts once: a chain of up to TPA_NAMED_CYCLE functions
 * that follows upon itself is as if it were there once. Functions without a name are their module's.
 */
#ifndef TPROF_REPORT_ROWS_NAMED_STACKS_H
#define TPROF_REPORT_ROWS_NAMED_STACKS_H

#include "base/pairs.h"
#include "report/rows/stack.h"
#include "base/arena.h"

#define TPA_NAMED_CYCLE 8u

struct tpa_named {
	const char *function; /* NULL: it has no name */
	const char *module;   /* NULL: the program's */
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
	struct tpa_pairs texts;	    /* of names, to their number */
	struct tpa_pairs locations; /* of one process, to their name */
	struct tpa_pairs children;  /* (node, name) to the node that it leads to */
	const struct tpa_trace *trace;
	const char *program; /* file name; NULL: not known, "": there are several */
};

void tpa_named_init(struct tpa_named_stacks *stacks);
void tpa_named_free(struct tpa_named_stacks *stacks);

/* The lines that are asked about from now on are of this process, whose symbols stay open until the next one. */
void tpa_named_process(struct tpa_named_stacks *stacks, const struct tpa_trace *trace);

/* The number of a line's name. */
uint32_t tpa_named_line(struct tpa_named_stacks *stacks, const struct tpa_line *line);

/* The number of a name that is no function's: of an op, a module. */
uint32_t tpa_named_text(struct tpa_named_stacks *stacks, const char *text);

/* The number of a name's module alone. */
uint32_t tpa_named_module_of(struct tpa_named_stacks *stacks, uint32_t name);

/* The stack in which `stack` called what has that name. */
uint32_t tpa_named_call(struct tpa_named_stacks *stacks, uint32_t stack, uint32_t name);

/* Of the lines [first, stack->last). */
uint32_t tpa_named_stack(struct tpa_named_stacks *stacks, const struct tpa_stack *stack, size_t first);

/* Module of a name, as it is printed. */
const char *tpa_named_module(const struct tpa_named_stacks *stacks, const struct tpa_named *name);

/* "function in module", whole. The caller frees it. */
char *tpa_named_whole(const struct tpa_named_stacks *stacks, uint32_t name);

#endif
