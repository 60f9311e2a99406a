/* SPDX-License-Identifier: Apache-2.0 */
/* Where stacks lie: nothing outside them is read by the walker. */
#ifndef TPROF_CORE_STACKRANGE_H
#define TPROF_CORE_STACKRANGE_H

#include "core/thread.h"

/* The calling thread's own stack, as libc gave it. */
struct tp_range tp_stack_of_thread(bool is_main);

/* The readable mapping around an address: a coroutine's stack, a signal stack. Empty if there is none. */
struct tp_range tp_stack_around(uintptr_t address);

/* Where the main thread's stack ends outwards: what the kernel put there before the program's first frame. */
uintptr_t tp_stack_main_end(void);

#endif
