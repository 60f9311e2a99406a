/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the sampler's signal from the program, and gives it up when the program wants it. */
#ifndef TPROF_HOOKS_SAMPLING_SIGNALS_H
#define TPROF_HOOKS_SAMPLING_SIGNALS_H

#include "core/base.h"

struct sigaction;
struct tpc_thread;

/* The number of the signal in use; 0: none. */
uint32_t tpc_cpu_signal(void);

/*
 * The number of the signal that has our handler: even after sampling has ended, until the program's handler is set; 0:
 * none.
 */
uint32_t tpc_cpu_handled(void);

/*
 * The calling thread sets this alternate signal stack (size 0: none). If it can't hold even what the kernel pushes, the
 * thread is no longer sampled; nor if the program unmaps one in use.
 */
void tpc_cpu_alternate_stack(const void *stack, size_t size);
void tpc_cpu_unmapped(const void *at, size_t length);

/*
 * The handler that the program believes to have set for our signal: kept, and installed when the signal is sent.
 * tpc_cpu_keep(): can it be kept? tpc_cpu_kept(): is there one? (If not, *action is the default.)
 */
bool tpc_cpu_keep(const struct sigaction *action);
bool tpc_cpu_kept(struct sigaction *action);
void tpc_cpu_drop(void);

/*
 * Ends sampling for good: deletes every timer. Before the program's own handler is installed; tpc_cpu_let_go() after
 * that.
 */
void tpc_cpu_step_aside(void);
void tpc_cpu_let_go(void);

/* Before the program sets the action of that signal without libc: if it is ours, it is the program's from now on. */
void tpc_cpu_set_by_syscall(long number);

/* Our handler. Is this one it? Installs it; and restarts the timers that stopped while the kernel ignored the signal. */
bool tpc_cpu_is_handler(const struct sigaction *action);
bool tpc_cpu_install(uint32_t number);
void tpc_cpu_restore(uint32_t number);

/*
 * libgcc blocks signals before it allocates a new segment of a split stack (stacks/split.h): a thread on such a stack
 * that has no alternate stack for handlers is no longer sampled.
 */
void tpc_cpu_new_segment(struct tpc_thread *thread);

#endif
