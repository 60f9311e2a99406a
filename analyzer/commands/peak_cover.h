/* SPDX-License-Identifier: Apache-2.0 */
/* The cover of a process's peak, as `peak` and the first page have it: see report/rows/cover.h. */
#ifndef TPROF_COMMANDS_PEAK_COVER_H
#define TPROF_COMMANDS_PEAK_COVER_H

#include "commands/session.h"
#include "report/rows/cover.h"

#define TPA_COVER_ROWS 8

/* What held the process's memory at its peak, in at most so many rows as --top says, or `most`; to be freed with
 * tpa_cover_free(). */
struct tpa_cover *tpa_session_peak_cover(struct tpa_session *session, size_t index, size_t most);

/* The cover as a table, and below it how much of the peak its rows hold. */
void tpa_peak_cover_print(struct tpa_session *session, const struct tpa_cover *cover);

#endif
