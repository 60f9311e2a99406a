/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data that a page's script works on, as JSON in an element that runs nothing. The characters <, > and & are
 * escaped, so that no text from a trace can end the element, and so that the page is well-formed XML.
 */
#ifndef TPROF_REPORT_HTML_PAGE_DATA_H
#define TPROF_REPORT_HTML_PAGE_DATA_H

#include <jansson.h>

#include "report/html/page_rows.h"

/* Writes an element of that class for the process with that index. `report`: what commands say of it with --json. */
void tpa_page_data_write(const struct tpa_page_rows *rows, size_t index, const char *class, const json_t *report,
			 FILE *out);

#endif
