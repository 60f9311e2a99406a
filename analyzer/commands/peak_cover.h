/* SPDX-License-Identifier: Apache-2.0 */
/* The cover of a process's peak, as `peak` and the first page have it: see report/rows/cover.h. */
#ifndef TPROF_COMMANDS_PEAK_COVER_H
#define TPROF_COMMANDS_PEAK_COVER_H

#include "commands/session.h"
#include "report/rows/cover.h"

/* What held the process's memory at its peak, in at most 8 rows, or as many as --top says; to be freed with tpa_cover_free(). */
struct tpa_cover *tpa_session_peak_cover(struct tpa_session *session, size_t index);

/* The cover as a table, and below it how much of the peak its rows hold. */
void tpa_peak_cover_print(struct tpa_session *session, const struct tpa_cover *cover);

#endif
