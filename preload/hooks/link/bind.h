/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out where a slot leads that its object has not used yet. */
#ifndef TPROF_LINK_BIND_H
#define TPROF_LINK_BIND_H

#include "hooks/link/slots.h"

/*
 * Looks in the global scope, else in the object's own (the two ways of dlsym, in the loader's order). Some objects
 * reverse that order (RTLD_DEEPBIND), and this can't be seen. So the result is NULL if both scopes have the symbol and
 * they differ, or if an object with another version, or none, precedes the one with the slot's version. With the
 * loader's lock.
 */
void *tpc_bind(const struct tpc_slot *slot);

/* The program loads objects that look for symbols in their own scope first. */
void tpc_bind_deep(void);

#endif
