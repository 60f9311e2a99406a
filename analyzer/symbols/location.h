/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a code address. */
#ifndef TPROF_SYMBOLS_LOCATION_H
#define TPROF_SYMBOLS_LOCATION_H

#include <stddef.h>

#include "symbols/known.h"

struct tpa_location {
	const char *function; /* demangled; NULL if unknown */
	const char *linkage;  /* the symbol table's name; NULL if unknown */
	const char *file;     /* NULL if unknown */
	int line;	      /* 0 if unknown */
	bool inlined;	      /* into the next location of the list */
	bool python;	      /* a Python function; else native code */
	struct tpa_known known;
	uint32_t number; /* consecutive, in order of discovery, from 1 on; 0: nothing is known */
};

struct tpa_symbol {
	const struct tpa_location *locations; /* innermost first; at least one, its function may be NULL */
	size_t count;
	const char *module; /* file name of the module without its folders; "" if none */
	const char *path;   /* full path; "" if none */
	bool system;	    /* tpa_path_is_system(path) */
};

enum tpa_module_state {
	TPA_MODULE_OK,	    /* opened; build-ids are equal, or one is missing */
	TPA_MODULE_MISSING, /* file not found */
	TPA_MODULE_REPLACED, /* the file has another build-id: symbols come from a debug file with the right one, or are missing */
	TPA_MODULE_UNREADABLE,
};

#endif
