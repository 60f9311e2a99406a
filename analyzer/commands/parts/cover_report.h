/* SPDX-License-Identifier: Apache-2.0 */
/* Covers of a process's peak and of its CPU time, for `peak` and the first page; see report/rows/cover.h. */
#ifndef TPROF_COMMANDS_PARTS_COVER_REPORT_H
#define TPROF_COMMANDS_PARTS_COVER_REPORT_H

#include "commands/input/session.h"
#include "report/rows/cover.h"

#define TPA_COVER_ROWS 8

/*
 * What held the process's memory at its peak, in at most --top rows, or `most` by default. Free it with
 * tpa_cover_free().
 */
struct tpa_cover *tpa_session_peak_cover(struct tpa_session *session, size_t index, size_t most);

/* The same of its CPU time, in at most `most` rows. */
struct tpa_cover *tpa_session_cpu_cover(struct tpa_session *session, size_t index, size_t most);

/*
 * The same of the CPU time of all processes together. A row's process is the first of those that spent time there. Memory has no
 * such cover: processes peak at different times.
 */
struct tpa_cover *tpa_run_cpu_cover(struct tpa_session *session, size_t most);

/* Prints the cover as a table, followed by the share of the peak that its rows hold. */
void tpa_peak_cover_print(struct tpa_session *session, const struct tpa_cover *cover);

#endif
