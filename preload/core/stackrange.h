/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of stacks: the walker reads nothing outside of them. */
#ifndef TPROF_CORE_STACKRANGE_H
#define TPROF_CORE_STACKRANGE_H

#include "core/base.h"

/* The calling thread's own stack, as libc allocated it. */
struct tpc_range tpc_stack_of_thread(bool is_main);

#define TPC_STACK_WINDOW 65536u /* bytes read of a stack that is not the thread's own */

/*
 * How far memory can be read from `from` on, at most up to `high` and TPC_STACK_WINDOW bytes; asks the kernel. A stack
 * that is not the thread's own may have been unmapped since it was last seen, or other memory may follow it.
 */
uintptr_t tpc_stack_readable(uintptr_t from, uintptr_t high);

/* The outer end of the main thread's stack, above which the kernel put the program's arguments. */
uintptr_t tpc_stack_main_end(void);

#endif
