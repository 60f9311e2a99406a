/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on the user's stderr. Never on stdout, never into a file that took stderr's number later. */
#ifndef TPROF_CORE_LOG_H
#define TPROF_CORE_LOG_H

#include "core/base.h"

/* Remembers which file stderr is. Once, at the start. */
void tpc_log_start(void);

/* "tprof: " first second newline, in one write. */
void tpc_log(const char *first, const char *second);

/* Text as it is. */
void tpc_log_text(const char *text, size_t length);

#endif
