/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file behind a module of the trace: found, checked by its build-id, opened with libdwfl.
 */
#ifndef TPROF_SYMBOLS_IMAGE_H
#define TPROF_SYMBOLS_IMAGE_H

#include <stdbool.h>

#include "symbols/arena.h"
#include "symbols/scopes.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"

struct tp_image {
	enum tp_module_state state;
	Dwfl *dwfl; /* one a module: two modules of a run may have had the same addresses, one after the other */
	Dwfl_Module *module; /* NULL: no file with the right build-id was found */
	uint64_t shift;	     /* an address of the trace less this is one of libdwfl's */
	struct tp_symtab symtab;
	struct tp_scopes *scopes; /* NULL: no DWARF */
	char *debug_path;	  /* what libdwfl searches; it and the callbacks must stay where they are */
	Dwfl_Callbacks callbacks;
};

/* Opens the module's file, or its debug file. -1: there is none of the right build; *state says what there is. */
int tp_image_find(const struct tp_module *module, const char *debug_dir, enum tp_module_state *state);

/* false: memory is out. A file that is missing or of another build is no failure: image->module is NULL then. */
bool tp_image_open(struct tp_image *image, const struct tp_module *module, const char *debug_dir,
		   struct tp_arena *arena);
void tp_image_close(struct tp_image *image);

#endif
