/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that several formats write. */
#ifndef TPROF_EXPORT_TEXT_H
#define TPROF_EXPORT_TEXT_H

#include "export/export.h"
#include "report/rows/stack.h"

/* A line of a stack as valgrind's tools print it: "0xADDRESS: FUNCTION (FILE:LINE)", or "(in MODULE)". */
void tpa_export_line_text(const struct tpa_line *line, char *text, size_t size);

/* The command line with blanks between its words, or the program's path: valid UTF-8; a heap string. */
char *tpa_export_command(const struct tpa_trace *trace);

/* Writes tpa_export_text() of a whole text; tpa_export_json_text(): as a JSON string with its quotes. */
void tpa_export_valid_text(FILE *out, const char *text);
void tpa_export_json_text(FILE *out, const char *text);

#endif
