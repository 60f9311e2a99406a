/* SPDX-License-Identifier: Apache-2.0 */
/* The variables in a module's symbol tables, sorted once. */
#ifndef TPROF_SYMBOLS_VARIABLES_H
#define TPROF_SYMBOLS_VARIABLES_H

#include "symbols/image.h"

struct tpa_variable {
	uint64_t low, high; /* libdwfl's addresses; for thread-local ones, offsets in the module's block */
	const char *name;   /* owned by the image */
	bool local;	    /* static or hidden in the module */
	bool thread_local;
};

struct tpa_variables {
	struct tpa_variable *list;
	size_t count;
};

void tpa_variables_load(struct tpa_variables *variables, const struct tpa_image *image);
void tpa_variables_free(struct tpa_variables *variables);

/* Returns NULL if no variable covers the address. */
const struct tpa_variable *tpa_variables_find(const struct tpa_variables *variables, uint64_t address,
					      bool thread_local);

#endif
