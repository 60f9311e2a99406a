/* SPDX-License-Identifier: Apache-2.0 */
/* Where a slot leads that its object has not used yet. */
#ifndef TPROF_LINK_BIND_H
#define TPROF_LINK_BIND_H

#include "hooks/link/slots.h"

/*
 * In the global scope, else in its object's own (dlsym's two ways of looking, in the loader's order). Some objects have the
 * order reversed (RTLD_DEEPBIND), and do not say so: where both scopes have the symbol, and not the same, nobody can tell; nor
 * where an object with another version, or none, stands before the one that has the slot's: NULL. With the loader's lock.
 */
void *tpc_bind(const struct tpc_slot *slot);

/* The program loads objects that look for symbols in their own scope first. */
void tpc_bind_deep(void);

#endif
