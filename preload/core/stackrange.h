/* SPDX-License-Identifier: Apache-2.0 */
/* Where stacks lie: nothing outside them is read by the walker. */
#ifndef TPROF_CORE_STACKRANGE_H
#define TPROF_CORE_STACKRANGE_H

#include "core/base.h"

/* The calling thread's own stack, as libc gave it. */
struct tpc_range tpc_stack_of_thread(bool is_main);

#define TPC_STACK_WINDOW 65536u /* bytes of a stack not the thread's own that are looked at */

/*
 * The end of what can be read from `from` on, at most `high` and TPC_STACK_WINDOW further: asked of the kernel. A stack that is not
 * the thread's own may have been unmapped, or been followed by other memory, since it was seen last.
 */
uintptr_t tpc_stack_readable(uintptr_t from, uintptr_t high);

/* Where the main thread's stack ends outwards: what the kernel put there before the program's first frame. */
uintptr_t tpc_stack_main_end(void);

#endif
