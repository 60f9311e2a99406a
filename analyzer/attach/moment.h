/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a stopped thread at a moment at which it can be made to call dlopen()? It must hold no lock that dlopen takes, or it would
 * wait for itself: those of the loader, the allocator, the threads' stacks. They are held inside libc and ld.so only. So the
 * thread's whole stack is looked at: it must be in code of its own, or wait in a system call of a kind that libc makes
 * without such a lock; and nothing below may be a function that calls the program back with one.
 */
#ifndef TPROF_ATTACH_MOMENT_H
#define TPROF_ATTACH_MOMENT_H

#include <stdbool.h>

#include "attach/tracee.h"

struct tpa_moment;

/* Opens the modules of a process. NULL: they can't be read. To be freed with tpa_moment_free(). */
struct tpa_moment *tpa_moment_new(pid_t pid);
void tpa_moment_free(struct tpa_moment *moment);

/* The address of a function of the C library; 0: the process has none (it is linked statically). */
uint64_t tpa_moment_function(const struct tpa_moment *moment, const char *name);

/* Is it safe now? Else *why is a phrase that says what the thread does. */
bool tpa_moment_is_safe(const struct tpa_moment *moment, const struct tpa_tracee *tracee, const char **why);

#endif
