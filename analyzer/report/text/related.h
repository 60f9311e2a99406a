/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a process relates to the others of its run: what replaced it, what it started, which of these have no trace and
 * why. Without it, the report of a wrapper (env, timeout, sh) is of little use.
 */
#ifndef TPROF_REPORT_TEXT_RELATED_H
#define TPROF_REPORT_TEXT_RELATED_H

#include "model/result/result.h"
#include "report/rows/relatives.h"
#include "report/text/text.h"

/* The programs that it started, and forks, that have no trace: a line each. */
void tpa_untraced_print(const struct tpa_trace *trace, const struct tpa_page *page);

/* Prints lines, these among them, or none if there is nothing to report. Processes that are in the run are in the report themselves. */
void tpa_others_print(const struct tpa_run *run, const struct tpa_process *process, const struct tpa_page *page);

#endif
