/* SPDX-License-Identifier: Apache-2.0 */
/* The ops in a page's data: the tree of calls over time, and of each op the durations of its calls and its shapes. */
#ifndef TPROF_REPORT_HTML_PAGE_OPS_H
#define TPROF_REPORT_HTML_PAGE_OPS_H

#include <stdio.h>

#include "report/html/page_rows.h"

/* Writes "opTree":{...},"ops":[...], with a comma behind it. */
void tpa_page_ops_write(const struct tpa_page_rows *rows, FILE *out);

#endif
