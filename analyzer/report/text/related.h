/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process has to do with the others of its run: what replaced it, what it started, which of that has no trace and why.
 * A wrapper's report (env, timeout, sh) is of little use without.
 */
#ifndef TPROF_REPORT_TEXT_RELATED_H
#define TPROF_REPORT_TEXT_RELATED_H

#include "report/rows/relatives.h"
#include "report/text/text.h"

/* Lines; none if there is nothing to say. */
void tpa_others_print(const struct tpa_trace *trace, const struct tpa_page *page);

#endif
