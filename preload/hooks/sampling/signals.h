/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler's signal, kept out of the program's sight; and given up when the program wants it. */
#ifndef TPROF_HOOKS_SAMPLING_SIGNALS_H
#define TPROF_HOOKS_SAMPLING_SIGNALS_H

#include "core/base.h"

struct sigaction;
struct tpc_thread;

/* The number of the signal in use; 0: none. */
uint32_t tpc_cpu_signal(void);

/* The number of the one that has our handler: also when sampling has ended, until the program's handler is there; 0: none. */
uint32_t tpc_cpu_handled(void);

/*
 * The calling thread takes this alternate signal stack (size 0: none). One that can't even hold what the kernel pushes
 * ends the thread's sampling, and so does unmapping one that is still in use.
 */
void tpc_cpu_alternate_stack(const void *stack, size_t size);
void tpc_cpu_unmapped(const void *at, size_t length);

/*
 * The handler that the program believes to have for our signal: kept, and installed when somebody sends the signal.
 * tpc_cpu_keep() answers whether it can be, tpc_cpu_kept() whether there is one (if not, *action is the default).
 */
bool tpc_cpu_keep(const struct sigaction *action);
bool tpc_cpu_kept(struct sigaction *action);
void tpc_cpu_drop(void);

/* Ends sampling for good: deletes every timer. Before the program's own handler is installed; tpc_cpu_let_go() behind that. */
void tpc_cpu_step_aside(void);
void tpc_cpu_let_go(void);

/* Before the program sets what that signal does past libc's functions: if it is ours, it is the program's from here on. */
void tpc_cpu_set_by_syscall(long number);

/* Our handler: is it that one? Installs it; and makes the timers run again that stopped as the kernel ignored the signal. */
bool tpc_cpu_is_handler(const struct sigaction *action);
bool tpc_cpu_install(uint32_t number);
void tpc_cpu_restore(uint32_t number);

/*
 * libgcc blocks signals before it takes a new segment for a split stack (stacks/split.h): a thread that has such a stack, and no
 * alternate stack for handlers, is not sampled from then on.
 */
void tpc_cpu_new_segment(struct tpc_thread *thread);

#endif
