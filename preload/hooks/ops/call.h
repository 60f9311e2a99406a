/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are ops: each has a stub, which leads through trampoline.S to the function itself. */
#ifndef TPROF_HOOKS_OPS_CALL_H
#define TPROF_HOOKS_OPS_CALL_H

#include "hooks/ops/select.h"

/*
 * The stub for a function, made when it is first asked for. NULL: no room. At start and after loading only, never in a
 * hook.
 */
void *tp_op_stub(void *function, const struct tp_op_choice *choice);

/* Is this address a stub? */
bool tp_op_is_stub(const void *address);

/* In a forked child: op numbers are to be asked for again. */
void tp_op_calls_forget(void);

#endif
