/* SPDX-License-Identifier: Apache-2.0 */
/* The marks of a process, as a table. */
#ifndef TPROF_REPORT_TEXT_MARK_LISTING_H
#define TPROF_REPORT_TEXT_MARK_LISTING_H

#include "model/samples/marks.h"
#include "report/text/text.h"

/* Prints nothing if there are no marks. `top`: rows, 0: all. */
void tpa_marks_print(const struct tpa_page *page, const struct tpa_marks *marks, uint64_t top);

#endif
