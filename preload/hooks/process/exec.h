/* SPDX-License-Identifier: Apache-2.0 */
/* exec and posix_spawn: the started program is recorded, too, whatever environment it is given (core/inherit.h). */
#ifndef TPROF_HOOKS_PROCESS_EXEC_H
#define TPROF_HOOKS_PROCESS_EXEC_H

#include "core/base.h"

struct tprof_untraced;

/*
 * Before system() or popen(), which start the shell past these hooks: notes the command if it won't be recorded. Returns
 * what tpc_follow_undo() takes; NULL: it will be, or that is unknown. Changes no errno.
 */
struct tprof_untraced *tpc_exec_shell(const char *command);

/* SYS_execve and SYS_execveat by syscall(). */
long tpc_exec_by_syscall(long number, long first, long second, long third, long fourth, long fifth);

#endif
