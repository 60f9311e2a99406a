/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up symbols without dlsym(), which allocates a message from the program's heap for each name that it does not
 * find.
 */
#ifndef TPROF_CORE_LOOKUP_H
#define TPROF_CORE_LOOKUP_H

#include "core/base.h"

/*
 * The definition that references to a function are bound to, in the objects loaded after libtprof.so, in their order.
 * Like RTLD_NEXT at start-up, but it also finds a definition whose version is asked for and is not the default one.
 * NULL: none.
 */
void *tpc_lookup_next(const char *name);

/*
 * libtprof.so was loaded into a program that runs already: no object comes after it. From now on tpc_lookup_next()
 * searches all other objects.
 */
void tpc_lookup_came_last(void);

/* Was it? Then there may be threads that are not known yet. */
bool tpc_lookup_is_last(void);

/* The same in all objects, beginning with the program: what calls are bound to at start-up. */
void *tpc_lookup_first(const char *name);

/* A variable of that name, in the first object that has one: what references to it are bound to. NULL: none. */
void *tpc_lookup_variable(const char *name);

/* The default version of a function in the object that contains `address`. NULL: none. */
void *tpc_lookup_beside(const void *address, const char *name);

/*
 * Is the address a PLT entry that stands for the function of that name? A program that is not position-independent and
 * takes the function's address has one. All objects then use the PLT entry as the function, except for the slot behind
 * it.
 */
bool tpc_lookup_is_plt(const void *address, const char *name);

/* Is there a variable of that name at the address? Constants may lie in the code. */
bool tpc_lookup_is_data(const void *address, const char *name);

/* Like tpc_lookup_next(), in the objects loaded after the one that contains `address`. */
void *tpc_lookup_behind(const void *address, const char *name);

struct tpc_lookup_found {
	uintptr_t address;
	uint64_t size;
};

/* The default version of a function or variable in one object (of dl_iterate_phdr). False: none. */
struct dl_phdr_info;
bool tpc_lookup_in(const struct dl_phdr_info *object, const char *name, struct tpc_lookup_found *found);

#endif
