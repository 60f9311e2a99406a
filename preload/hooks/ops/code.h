/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks functions in their own code (arch/x86_64/code_move.h): those that a glob of TPROF_OPS, or TPROF_STEP, names, and that
 * no pointer of the loader leads to. Only while the process has one thread.
 */
#ifndef TPROF_HOOKS_OPS_CODE_H
#define TPROF_HOOKS_OPS_CODE_H

#include "hooks/link/slots.h"

/*
 * Looks through the objects from number `from` on in `seen`, whose pointers are hooked already. True: all is done; false:
 * there are such functions, and tpc_code_load() is to be called first. With the loader's lock, one thread at a time.
 */
bool tpc_code_hook(const struct tpc_seen *seen, size_t from);

/* Was the function at that address refused? Then it is told by name. */
bool tpc_code_is_refused(const void *function);

/* Loads the decoder. Without the loader's lock; allocates. */
void tpc_code_load(void);

#endif
