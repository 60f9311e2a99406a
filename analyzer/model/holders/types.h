/* SPDX-License-Identifier: Apache-2.0 */
/* What the blocks of a process that stands still are, as their contents tell. */
#ifndef TPROF_MODEL_HOLDERS_TYPES_H
#define TPROF_MODEL_HOLDERS_TYPES_H

#include "model/holders/memory.h"

/* What a block is. */
struct tpa_holders_type {
	uint8_t kind; /* enum tprof_holder: BLOCK, CXX, OBJECT */
	bool part;    /* it belongs to the object that points to it: a list's array, a dict's table */
	uint64_t items;
	char name[256]; /* "": not known. Of C++ as the ABI mangles it, without _ZTS */
};

/* Of a block that is no object of Python. */
void tpa_holders_type(struct tpa_holders_memory *memory, uint64_t address, uint64_t size,
		      struct tpa_holders_type *type);

/* The name of an object's dynamic type (Itanium C++ ABI: vptr, then type_info, then name). False: it is none. */
bool tpa_holders_rtti(struct tpa_holders_memory *memory, uint64_t object, char *name, size_t size);

#endif
