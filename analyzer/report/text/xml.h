/* SPDX-License-Identifier: Apache-2.0 */
/* Text escaped for XML: SVG pictures and JUnit results. */
#ifndef TPROF_REPORT_TEXT_XML_H
#define TPROF_REPORT_TEXT_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes text for use between tags or in double quotes: escapes &, <, > and ", and replaces invalid UTF-8 and control
 * characters by '?'.
 */
void tpa_xml_text(const char *text, FILE *out);

/* Writes at most `max` characters; returns their number. */
size_t tpa_xml_start(const char *text, size_t max, FILE *out);

#endif
