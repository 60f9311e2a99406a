/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A progress bar on stderr, if that is a terminal and the work takes long enough to wonder.
 */
#ifndef TPROF_REPORT_TEXT_PROGRESS_H
#define TPROF_REPORT_TEXT_PROGRESS_H

#include <stdint.h>

struct tpa_progress;

/* NULL if there shall be no bar: every function takes that. */
struct tpa_progress *tpa_progress_new(const char *what);
/* To be called often: draws at most ten times a second. `context` is the struct tpa_progress. */
void tpa_progress_update(void *context, uint64_t done, uint64_t total);
/* Wipes the bar. */
void tpa_progress_free(struct tpa_progress *progress);

#endif
