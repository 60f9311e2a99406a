/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a module of the trace: found, checked by its build-id, opened with libdwfl. It is opened once for all
 * traces, because reading libc's debugging information takes longer than everything else for a small trace.
 */
#ifndef TPROF_SYMBOLS_IMAGE_H
#define TPROF_SYMBOLS_IMAGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "symbols/location.h"
#include "symbols/scopes.h"
#include "symbols/symtab.h"
#include "trace/trace.h"

#define TPA_SYSTEM_DEBUG "/usr/lib/debug" /* where systems install debug files */

struct tpa_image {
	bool opened; /* false: nothing below is known yet, but `names` */
	enum tpa_module_state state;
	/* One for each module: two modules of a run may have had the same addresses, one after the other */
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: no file with the right build-id was found */
	/* An address of the module that it was opened for, minus this, is an address of libdwfl's */
	uint64_t shift;
	uint64_t bias; /* of that module */
	struct tpa_symtab symtab;
	struct tpa_scopes *scopes; /* NULL: no DWARF */
	char *debug_path;	   /* the folders that libdwfl searches; it and the callbacks must not move */
	Dwfl_Callbacks callbacks;
	struct tpa_names *names; /* what was looked up in it, see names.h; NULL: nothing yet */
};

/* Opens the module's file, or its debug file. Returns -1 if there is none of the right build; *state says why. */
int tpa_image_find(const struct tpa_module *module, const char *debug_dir, enum tpa_module_state *state);

/*
 * The image of a module, opened when it is first requested, and kept as long as its file stays the same. Never NULL. A file
 * that is missing or of another build is no failure: image->module is NULL then.
 */
const struct tpa_image *tpa_image_of(const struct tpa_module *module, const char *debug_dir);

/* The same image, which may not be opened yet. */
struct tpa_image *tpa_image_known(const struct tpa_module *module, const char *debug_dir);

/* DIR/.build-id/xx/yyyy.debug; "" if the module has no build-id. `size`: of `path`, in bytes. */
void tpa_image_debug_path(const struct tpa_module *module, const char *folder, char *path, size_t size);

/* Converts an address of the module to an address of libdwfl's. */
uint64_t tpa_image_address(const struct tpa_image *image, const struct tpa_module *module, uint64_t address);

#endif
