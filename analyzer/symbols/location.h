/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an address. */
#ifndef TPROF_SYMBOLS_LOCATION_H
#define TPROF_SYMBOLS_LOCATION_H

#include <stddef.h>

#include "symbols/known.h"

struct tp_location {
	const char *function; /* demangled; NULL if unknown */
	const char *linkage;  /* as in the symbol table; NULL if unknown */
	const char *file;     /* NULL if unknown */
	int line;	      /* 0 if unknown */
	bool inlined;	      /* into the next location of the list */
	bool python;	      /* a Python function; else native code */
	struct tp_known known;
	uint32_t number; /* of those that were found so far, from 1 on; 0: nothing is known of it */
};

struct tp_symbol {
	const struct tp_location *locations; /* innermost first; at least one, its function may be NULL */
	size_t count;
	const char *module; /* file name of the module without its folders; "" if none */
	const char *path;   /* full path; "" if none */
};

enum tp_module_state {
	TP_MODULE_OK,	    /* opened; build-ids agree, or there is none to compare */
	TP_MODULE_MISSING,  /* file not found (any more) */
	TP_MODULE_REPLACED, /* the file now has another build-id: symbols of a debug file with the right one, or none */
	TP_MODULE_UNREADABLE,
};

#endif
