/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text reports as GitHub Flavored Markdown, to be pasted into an issue or a CI summary. Headlines and tables are written as such.
 * Of all other text a line with columns, or one that is indented by more than two blanks, is part of a code block, and any other one
 * a paragraph. Names from a trace can't become markup, links, mentions of people or references to issues.
 */
#ifndef TPROF_REPORT_TEXT_MARKDOWN_H
#define TPROF_REPORT_TEXT_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tpa_markdown;

/* A stream for text, which it writes to `out` as Markdown. Closing it closes `out`, and frees *markdown. */
FILE *tpa_markdown_open(FILE *out, struct tpa_markdown **markdown);

/* Flush the stream before these. */
void tpa_markdown_headline(struct tpa_markdown *markdown, const char *text);
/* The head of a table. `right`: which columns are numbers; the others' cells are printed as code. */
void tpa_markdown_table(struct tpa_markdown *markdown, const char *const *titles, const bool *right, size_t count);
void tpa_markdown_row(struct tpa_markdown *markdown, const char *const *cells, const bool *right, size_t count);

#endif
