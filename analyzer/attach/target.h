/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a process that is to be attached to. */
#ifndef TPROF_ATTACH_TARGET_H
#define TPROF_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A field of /proc/PID/status, without its name. False: there is none. */
bool tpa_target_status(pid_t pid, const char *name, char *value, size_t size);

/* NULL, or why the process can't be attached to, as a sentence without its subject. To be freed. */
char *tpa_target_obstacle(pid_t pid);

/* Why the kernel refused it: ptrace's `error`, an errno. To be freed. */
char *tpa_target_refusal(pid_t pid, int error);

/* Does the thread wait in the kernel, so that it can't be stopped, as for a child of vfork()? */
bool tpa_target_is_stuck(pid_t pid, pid_t tid);

/* The threads, the main one first. Ends with 0; NULL: the process is gone. To be freed. */
pid_t *tpa_target_threads(pid_t pid);

/* Is libtprof.so loaded in it? */
bool tpa_target_has_library(pid_t pid);

/* Its name, at most 15 bytes. Valid until the next call. */
const char *tpa_target_name(pid_t pid);

#endif
