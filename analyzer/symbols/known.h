/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function is known for by its name, and its module's: stacks are folded by it, and memory put down to who wanted it.
 * Asked once for each place in the code, and kept beside its names.
 */
#ifndef TPROF_SYMBOLS_KNOWN_H
#define TPROF_SYMBOLS_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* What keeps memory when the program is done with it: see report/rows/known_caches.h. */
enum tp_holder {
	TP_HOLDER_NONE, /* not known: no proof of the contrary */
	TP_HOLDER_TORCH,
	TP_HOLDER_NUMPY_SHAPES,
	TP_HOLDER_NUMPY_BLOCKS,
	TP_HOLDER_PYTHON_INTERNED,
	TP_HOLDER_PYTHON_ARENAS,
	TP_HOLDER_PYTHON_START,
	TP_HOLDER_PYTHON_IMPORTS,
	TP_HOLDER_OPENMP,
	TP_HOLDERS,
};

struct tp_known {
	bool allocator;		/* one of the allocator's functions */
	bool plumbing;		/* or of the language's */
	bool start;		/* of the start-up code, a thread's too */
	bool rust_begin;	/* where Rust's ends, */
	bool rust_call;		/* and the call of a closure that may stand right behind it */
	bool interpreter_start; /* of Python's */
	uint8_t holder, pool;	/* enum tp_holder: what the function allocates for; what its module does by itself */
};

/* `name` and `file` may be NULL; `module` is a file name without folders. */
struct tp_known tp_known_name(const char *name, const char *file, const char *module, bool python);

#endif
