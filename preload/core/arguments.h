/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel put at the start of the main thread's stack. */
#ifndef TPROF_CORE_ARGUMENTS_H
#define TPROF_CORE_ARGUMENTS_H

#include "core/base.h"

/* argv, and how many there are. NULL: not known. */
char *const *tpc_arguments(size_t *count);

/* The environment as the kernel laid it out: there before libc is ready, blind to later setenv(). */
char *const *tpc_environment(void);

/* Is it Valgrind that runs the program? */
bool tpc_under_valgrind(void);

#endif
