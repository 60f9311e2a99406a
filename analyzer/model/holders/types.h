/* SPDX-License-Identifier: Apache-2.0 */
/* The types of the blocks of a frozen process, found by their contents. */
#ifndef TPROF_MODEL_HOLDERS_TYPES_H
#define TPROF_MODEL_HOLDERS_TYPES_H

#include "model/holders/memory.h"

/* The type of a block. */
struct tpa_holders_type {
	uint8_t kind;	/* enum tprof_holder: BLOCK, CXX, OBJECT */
	bool part;	/* it is a part of the object that points to it: a list's array, a dict's table */
	uint64_t items; /* of a container */
	char name[256]; /* "": unknown. Of C++: as the ABI mangles it, without _ZTS */
};

/* Finds the type of a block that is no Python object. */
void tpa_holders_type(struct tpa_holders_memory *memory, uint64_t address, uint64_t size,
		      struct tpa_holders_type *type);

/* Gets the name of an object's dynamic type (Itanium C++ ABI: vptr, then type_info, then name). False: it has none. */
bool tpa_holders_rtti(struct tpa_holders_memory *memory, uint64_t object, char *name, size_t size);

#endif
