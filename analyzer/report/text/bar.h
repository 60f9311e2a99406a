/* SPDX-License-Identifier: Apache-2.0 */
/* Bars and curves in the cells of tables, for reports that are read on a terminal; see tpa_page.bars. */
#ifndef TPROF_REPORT_TEXT_BAR_H
#define TPROF_REPORT_TEXT_BAR_H

#include "report/text/text.h"

#define TPA_BAR_COLUMNS 8

/* A bar as long as the share, from 0 to 1, of TPA_BAR_COLUMNS: to an eighth of a column in UTF-8, else to a column. */
struct tpa_text tpa_bar(const struct tpa_page *page, double share);

/* A curve from 0 to the largest value, in TPA_BAR_COLUMNS columns: each shows the last of its values. */
struct tpa_text tpa_curve(const struct tpa_page *page, const double *values, size_t count);

#endif
