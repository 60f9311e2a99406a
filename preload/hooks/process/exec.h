/* SPDX-License-Identifier: Apache-2.0 */
/* exec and posix_spawn: the started program is recorded, too, whatever environment it is given (core/inherit.h). */
#ifndef TPROF_HOOKS_PROCESS_EXEC_H
#define TPROF_HOOKS_PROCESS_EXEC_H

#include "core/base.h"

/* SYS_execve and SYS_execveat by syscall(). */
long tpc_exec_by_syscall(long number, long first, long second, long third, long fourth, long fifth);

#endif
