/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies functions by name and module name. Reports use it to fold stacks and to attribute memory to the function
 * that asked for it. Looked up once per code location, and stored with its names.
 */
#ifndef TPROF_SYMBOLS_KNOWN_H
#define TPROF_SYMBOLS_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* Functions that keep memory after the program has finished with it: see report/rows/known_caches.h. */
enum tpa_holder {
	TPA_HOLDER_NONE, /* unknown, which does not exclude a holder */
	TPA_HOLDER_TORCH,
	TPA_HOLDER_NUMPY_SHAPES,
	TPA_HOLDER_NUMPY_BLOCKS,
	TPA_HOLDER_PYTHON_INTERNED,
	TPA_HOLDER_PYTHON_ARENAS,
	TPA_HOLDER_PYTHON_START,
	TPA_HOLDER_PYTHON_IMPORTS,
	TPA_HOLDER_OPENMP,
	TPA_HOLDERS,
};

struct tpa_known {
	bool allocator;		/* a function of the allocator */
	bool plumbing;		/* a function of the allocator or of the language's library */
	bool start;		/* a function of the start-up code, also a thread's */
	bool rust_begin;	/* where Rust's start-up code ends, */
	bool rust_call;		/* and the call of a closure that may come directly after it */
	bool installed;		/* see tpa_python_is_installed() */
	bool system_file;	/* its source file lies in a folder of the system's */
	bool waits;		/* spins while it waits for other threads */
	bool interpreter_start; /* the start of Python's interpreter */
	/* enum tpa_holder: the holder that the function allocates for; the same for its module */
	uint8_t holder, pool;
};

/*
 * Does the Python file (may be NULL: false) belong to the standard library or an installed package, or is it generated code
 * ("<...>")?
 */
bool tpa_python_is_installed(const char *file);

/* Does the path lie in a folder of the system's, or in a Python package? */
bool tpa_path_is_system(const char *path);

/* `name` and `file` may be NULL; `module` is a file name without folders. */
struct tpa_known tpa_known_name(const char *name, const char *file, const char *module, bool python);

#endif
