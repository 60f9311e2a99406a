/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lines to the user's stderr: never to stdout, nor to a file that got stderr's number later. */
#ifndef TPROF_CORE_LOG_H
#define TPROF_CORE_LOG_H

#include "core/base.h"

/* Remembers which file stderr is. Once, at the start. */
void tpc_log_start(void);

/* Writes "tprof: ", both texts and a newline in one system call. */
void tpc_log(const char *first, const char *second);

/* Writes the text unchanged. */
void tpc_log_text(const char *text, size_t length);

#endif
