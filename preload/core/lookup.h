/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols looked up without dlsym: that one allocates a message, from the program's heap, for each name that is not
 * there.
 */
#ifndef TPROF_CORE_LOOKUP_H
#define TPROF_CORE_LOOKUP_H

#include "core/base.h"

/*
 * The definition of a function that references to it are bound to, in the objects that were loaded behind libtprof.so, in their
 * order: what RTLD_NEXT means at start-up, but that it also finds what has the version that they ask for, and is not the default
 * in its object. NULL if there is none.
 */
void *tpc_lookup_next(const char *name);

/* The same in all objects from the program on: at start-up, what all calls are bound to. */
void *tpc_lookup_first(const char *name);

/* The default version's definition of a function in the object that holds `address`. NULL: none. */
void *tpc_lookup_beside(const void *address, const char *name);

/*
 * Is the address a PLT entry that stands for the function of that name, as a program's does which is not
 * position-independent and took its address? For all objects that entry is the function then, but for the slot behind it.
 */
bool tpc_lookup_is_plt(const void *address, const char *name);

/* Is there a variable of that name at the address? Constants may lie among code. */
bool tpc_lookup_is_data(const void *address, const char *name);

/* As tpc_lookup_next(), behind the object that holds `address`. */
void *tpc_lookup_behind(const void *address, const char *name);

struct tpc_lookup_found {
	uintptr_t address;
	uint64_t size;
};

/* The default version's definition of a function or variable in one object (of dl_iterate_phdr). False: none. */
struct dl_phdr_info;
bool tpc_lookup_in(const struct dl_phdr_info *object, const char *name, struct tpc_lookup_found *found);

#endif
