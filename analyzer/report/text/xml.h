/* SPDX-License-Identifier: Apache-2.0 */
/* Text as XML allows it: SVG pictures, JUnit's results. */
#ifndef TPROF_REPORT_TEXT_XML_H
#define TPROF_REPORT_TEXT_XML_H

#include <stddef.h>
#include <stdio.h>

/* Text between tags, or in double quotes: &, <, >, " are escaped; bytes that are no UTF-8, and control characters, become '?'. */
void tpa_xml_text(const char *text, FILE *out);

/* At most `max` characters of it; returns how many. */
size_t tpa_xml_start(const char *text, size_t max, FILE *out);

#endif
