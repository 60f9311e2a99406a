/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what to optimize first, at the end of a summary. */
#ifndef TPROF_REPORT_TEXT_PRIORITY_LISTING_H
#define TPROF_REPORT_TEXT_PRIORITY_LISTING_H

#include "report/rows/rows.h"
#include "report/text/text.h"

/*
 * Prints the ops that make up 80% of the ops' time, and the stacks that hold 80% of the peak (`peak`: all rows, most
 * bytes first). `note` comments on an op, for example its distance to the roof; may be NULL. Omits empty parts.
 */
typedef const char *tpa_priority_note(void *context, const struct tpa_op_stats *op);
void tpa_priorities_print(const struct tpa_page *page, const struct tpa_process *process, const struct tpa_rows *peak,
			  tpa_priority_note *note, void *context);

#endif
