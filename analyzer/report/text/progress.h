/* SPDX-License-Identifier: Apache-2.0 */
/* A progress bar on stderr, if stderr is a terminal and the work takes long. */
#ifndef TPROF_REPORT_TEXT_PROGRESS_H
#define TPROF_REPORT_TEXT_PROGRESS_H

#include <stdint.h>

struct tpa_progress;

/* Returns NULL if no bar is wanted; every function accepts NULL. */
struct tpa_progress *tpa_progress_new(const char *what);
/* Call it often: it draws at most ten times a second. `context` is the struct tpa_progress. */
void tpa_progress_update(void *context, uint64_t done, uint64_t total);
/* Erases the bar, and frees it. */
void tpa_progress_free(struct tpa_progress *progress);

#endif
