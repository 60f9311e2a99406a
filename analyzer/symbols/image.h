/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file behind a module of the trace: found, checked by its build-id, opened with libdwfl. It is opened once for all
 * traces: reading the debugging information of libc takes longer than all else of a small trace.
 */
#ifndef TPROF_SYMBOLS_IMAGE_H
#define TPROF_SYMBOLS_IMAGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "symbols/location.h"
#include "symbols/scopes.h"
#include "symbols/symtab.h"
#include "trace/trace.h"

struct tp_image {
	enum tp_module_state state;
	Dwfl *dwfl; /* one a module: two modules of a run may have had the same addresses, one after the other */
	Dwfl_Module *module; /* NULL: no file with the right build-id was found */
	uint64_t shift;	     /* an address of the module that it was opened for, less this, is one of libdwfl's */
	uint64_t bias;	     /* of that module */
	struct tp_symtab symtab;
	struct tp_scopes *scopes; /* NULL: no DWARF */
	char *debug_path;	  /* what libdwfl searches; it and the callbacks must stay where they are */
	Dwfl_Callbacks callbacks;
};

/* Opens the module's file, or its debug file. -1: there is none of the right build; *state says what there is. */
int tp_image_find(const struct tp_module *module, const char *debug_dir, enum tp_module_state *state);

/*
 * Opened when it is first asked for, then kept as long as its file stays the same. NULL: memory is out. A file that is missing
 * or of another build is no failure: image->module is NULL then.
 */
const struct tp_image *tp_image_of(const struct tp_module *module, const char *debug_dir);

/* An address of the module, as an address of libdwfl's. */
uint64_t tp_image_address(const struct tp_image *image, const struct tp_module *module, uint64_t address);

#endif
