/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as a reader wants them: the program's own frames. The allocator's frames at the innermost end and the start-up
 * frames of loader and libc at the outermost end are folded away. Where there are Python frames, the interpreter's own
 * that are outside of one are left out; the symbols' options can say otherwise.
 */
#ifndef TPROF_REPORT_ROWS_STACK_H
#define TPROF_REPORT_ROWS_STACK_H

#include <regex.h>

#include "symbols/symbols.h"

/* One line of a printed stack: a function, inlined ones included. */
struct tpa_line {
	const struct tpa_location *location;
	const struct tpa_symbol *symbol;
	const struct tpa_module *module; /* NULL: none */
	uint64_t address;		 /* run-time */
	uint32_t frame;			 /* of the trace */
};

/* What a stack's outer end was, beside its lines. */
struct tpa_stack {
	struct tpa_line *lines; /* innermost first */
	size_t count, capacity;
	size_t first, last; /* the lines [first, last) remain after folding; never empty unless the stack is */
	uint32_t end;	    /* enum tprof_node */
	const struct tpa_module *interpreter; /* of the Python frames in it; NULL: there are none */
	const struct tpa_trace *trace;	      /* what it was read from */
	struct tpa_symbols *symbols;
	uint32_t node;
};

/* Fills `stack` (zeroed, or used before). */
void tpa_stack_read(struct tpa_stack *stack, const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node);
/* Reads the same stack with the frames of all languages, whichever are shown. */
void tpa_stack_read_mixed(struct tpa_stack *stack, const struct tpa_stack *same);
void tpa_stack_free(struct tpa_stack *stack);

/*
 * The line that a stack's memory is put down to: the innermost one of the program's own, behind the allocator's and the
 * language's plumbing (std::vector, ..., and what the Python interpreter does for a line of Python). A function without a name gives way to one of the same module that called it
 * and has one. NULL if the stack is empty.
 */
const struct tpa_line *tpa_stack_own(const struct tpa_stack *stack);

/* Does the function, file or module match? */
bool tpa_line_matches(const struct tpa_line *line, const regex_t *filter);

/* Does that of any of its lines? */
bool tpa_stack_matches(const struct tpa_stack *stack, const regex_t *filter);

/* Is it Python code that `import` runs between the line that says it and the module? */
bool tpa_frame_is_import(const struct tpa_trace *trace, const struct tpa_frame *frame);

/* "function", or "module+0x1234" (a link-time address) where there is no name; as long as `buffer` and the symbols. */
const char *tpa_line_name(const struct tpa_line *line, char *buffer, size_t size);

/* "file.c:12", or "module" if the line is not known. With `cwd`, files below it are named relative to it. */
const char *tpa_line_place(const struct tpa_line *line, const char *cwd, char *buffer, size_t size);

/*
 * The last part of a path, which a line's number may follow; of a Python package's __init__.py, as all of them are called, the
 * package too. Points into `path`.
 */
const char *tpa_file_name(const char *path);

#endif
