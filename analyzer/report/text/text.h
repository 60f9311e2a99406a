/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text reports: colours, widths, tables.
 */
#ifndef TPROF_REPORT_TEXT_TEXT_H
#define TPROF_REPORT_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/rows/units.h"

enum tp_color { TP_COLOR_AUTO, TP_COLOR_ALWAYS, TP_COLOR_NEVER };

/* Where a report goes, and how it may look there. */
struct tp_page {
	FILE *out;
	bool color; /* escape sequences are welcome */
	bool utf8;  /* the locale can show it */
	bool exact; /* sizes as plain byte counts */
	int width;  /* columns of the terminal, or 100 */
};

enum tp_style { TP_STYLE_PLAIN, TP_STYLE_TITLE, TP_STYLE_NUMBER, TP_STYLE_FUNCTION, TP_STYLE_DIM, TP_STYLE_WARN };

/* Looks at `out`, NO_COLOR, COLUMNS and the locale (setlocale() must have been called). */
void tp_page_init(struct tp_page *page, FILE *out, enum tp_color color, bool exact);

/* Escape sequences around a piece of text; "" where colours are unwelcome. */
const char *tp_style_on(const struct tp_page *page, enum tp_style style);
const char *tp_style_off(const struct tp_page *page);

/* printf in a style; no newline of its own. */
__attribute__((format(printf, 3, 4))) void tp_print(const struct tp_page *page, enum tp_style style, const char *format,
						    ...);

/* A section's headline with an empty line before it. */
__attribute__((format(printf, 2, 3))) void tp_headline(const struct tp_page *page, const char *format, ...);

/* Columns that `text` takes on a terminal (UTF-8 aware). */
int tp_text_columns(const struct tp_page *page, const char *text);

/* Copies `text` into `buffer`, with the middle left out ("...") if it takes more than `columns`. Returns `buffer`. */
char *tp_shorten(const struct tp_page *page, const char *text, int columns, char *buffer, size_t size);

/* The same, but the front is left out: of a path the end tells most. */
char *tp_shorten_front(const struct tp_page *page, const char *text, int columns, char *buffer, size_t size);

/* The same, but the end is left out: of a line of source the beginning tells most. */
char *tp_shorten_end(const struct tp_page *page, const char *text, int columns, char *buffer, size_t size);

/* A table: cells are added row by row, then everything is printed with aligned columns. */
struct tp_table;
#define TP_TABLE_COLUMNS 16

/*
 * `titles`: separated by '|'; a title that begins with '>' is of a right-aligned column, one that begins with '*' takes
 * what is left of the line and is shortened to fit; one that begins with '=' too, and is cut at its end.
 */
struct tp_table *tp_table_new(const char *titles);
/* Cells of a row, in order; a new row begins when the columns are used up. Copies the text, with "?" for control characters. */
void tp_table_add(struct tp_table *table, enum tp_style style, const char *text);
void tp_table_print(const struct tp_table *table, const struct tp_page *page, int indent);
void tp_table_free(struct tp_table *table);

#endif
