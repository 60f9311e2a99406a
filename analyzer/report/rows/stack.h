/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks reduced to the program's own frames. The allocator's frames at the innermost end and the start-up frames of loader and
 * libc at the outermost end are folded away. In a stack with Python frames, the interpreter's own frames further out than the
 * innermost Python frame are left out. The symbols' options can change that.
 */
#ifndef TPROF_REPORT_ROWS_STACK_H
#define TPROF_REPORT_ROWS_STACK_H

#include <regex.h>

#include "symbols/symbols.h"

/* One line of a printed stack: a function. A frame has several lines if functions were inlined. */
struct tpa_line {
	const struct tpa_location *location;
	const struct tpa_symbol *symbol;
	const struct tpa_module *module; /* NULL: none */
	uint64_t address;		 /* at run time, not link time */
	uint32_t frame;			 /* index in the trace */
	bool guessed;			 /* no unwind table covers what it called: it may be wrong */
};

/* A stack that was read. */
struct tpa_stack {
	struct tpa_line *lines; /* innermost first */
	size_t count, capacity;
	size_t first, last;		      /* lines [first, last) remain after folding; empty only if the stack is */
	uint32_t end;			      /* enum tprof_node: how the outer end was reached */
	const struct tpa_module *interpreter; /* NULL: no Python frame in the stack, or none is shown */
	const struct tpa_trace *trace;	      /* what the stack was read from, with `symbols` and `node` */
	struct tpa_symbols *symbols;
	uint32_t node;
};

/* Reads the stack of `node` into `stack`, which is zeroed or was used before. Free it with tpa_stack_free(). */
void tpa_stack_read(struct tpa_stack *stack, const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node);
/* Reads the stack of `same` with the frames of all languages, whatever the options say. */
void tpa_stack_read_mixed(struct tpa_stack *stack, const struct tpa_stack *same);
void tpa_stack_free(struct tpa_stack *stack);

/*
 * The own line of a stack: the line that its memory is attributed to. It is the innermost line that is not part of the allocator or
 * of the language's plumbing (std::vector, or what the Python interpreter does for a line of Python). If its function has no name,
 * the next caller in the same module that has one is used. NULL: the stack is empty. Points into `stack`.
 */
const struct tpa_line *tpa_stack_own(const struct tpa_stack *stack);

/* Does the filter match the line's function, file or module? */
bool tpa_line_matches(const struct tpa_line *line, const regex_t *filter);

/* Does the filter match any line of the stack, including those that are folded away? */
bool tpa_stack_matches(const struct tpa_stack *stack, const regex_t *filter);

/* Is it Python's own code between an import statement and the imported module? */
bool tpa_frame_is_import(const struct tpa_trace *trace, const struct tpa_frame *frame);

/* "function", or "module+0x1234" (link-time address) if it has no name. Valid as long as both `buffer` and the symbols are. */
const char *tpa_line_name(const struct tpa_line *line, char *buffer, size_t size);

/* "file.c:12", "file.c" if the line is unknown, "module" if the file is. Files below `cwd` (may be NULL) are relative to it. */
const char *tpa_line_place(const struct tpa_line *line, const char *cwd, char *buffer, size_t size);

/*
 * The last part of a path; for __init__.py, which every Python package has, the last two parts. ":LINE" may follow the path. Points
 * into `path`.
 */
const char *tpa_file_name(const char *path);

/* Is the line native code of the interpreter that runs the stack's Python lines? Those lines say more. */
bool tpa_line_is_interpreters(const struct tpa_stack *stack, const struct tpa_line *line);

#endif
