/* SPDX-License-Identifier: Apache-2.0 */
/* Starts tprof-analyze. Each function but the first is for a task that shares no descriptors with the program. */
#ifndef TPROF_CORE_ANALYZER_H
#define TPROF_CORE_ANALYZER_H

#include "core/base.h"

/* Its path, beside this library. False: the library's own path is not known, or the result does not fit. */
bool tpc_analyzer_find(char *path, size_t size);

/* Closes the program's files, because a pipe would not end before tprof-analyze otherwise; 0, 1 and 2 become /dev/null. */
void tpc_analyzer_close_files(void);

/* Becomes tprof-analyze, without the program's environment: it is not to be traced. `arguments` ends with NULL. */
void tpc_analyzer_exec(const char *const *arguments) __attribute__((noreturn));

#endif
