/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the line of an instruction in CPython's line tables. */
#ifndef TPROF_HOOKS_PYTHON_LINES_H
#define TPROF_HOOKS_PYTHON_LINES_H

#include "hooks/python/layout.h"

struct tpc_lines {
	enum tpc_line_table kind;
	const uint8_t *bytes;
	size_t length;
	int32_t first; /* the code object's first line */
};

/*
 * `unit`: the instruction, in units of two bytes from the first; below 0: before it. 0: it belongs to no line. `code`
 * is the unique number of the code object: an instruction behind the one looked up last is found in a few steps. Any
 * thread.
 */
int32_t tpc_line_find(const struct tpc_lines *lines, uint32_t code, int64_t unit);

/* In a forked child: code objects are numbered anew. */
void tpc_lines_forget(void);

#endif
