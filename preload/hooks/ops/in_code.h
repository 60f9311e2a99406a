/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that a glob of TPROF_OPS, or TPROF_STEP, names, and that no pointer of the loader leads to: hooked in their code. */
#ifndef TPROF_HOOKS_OPS_IN_CODE_H
#define TPROF_HOOKS_OPS_IN_CODE_H

#include "hooks/link/slots.h"

/*
 * Looks through the objects from number `from` on in `seen`, whose pointers are hooked already. As tpc_code_hook()
 * (hooks/link/code.h).
 */
bool tpc_ops_hook_code(const struct tpc_seen *seen, size_t from);

/* Was the function at that address refused? Then it is told by name. */
bool tpc_op_is_refused(const void *function);

#endif
