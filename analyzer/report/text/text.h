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

enum tpa_color { TPA_COLOR_AUTO, TPA_COLOR_ALWAYS, TPA_COLOR_NEVER };

/* Where a report goes, and how it may look there. */
struct tpa_page {
	FILE *out;
	bool color; /* escape sequences are welcome */
	bool utf8;  /* the locale can show it */
	bool exact; /* sizes as plain byte counts */
	int width;  /* columns of the terminal, or 100 */
};

enum tpa_style {
	TPA_STYLE_PLAIN,
	TPA_STYLE_TITLE,
	TPA_STYLE_NUMBER,
	TPA_STYLE_FUNCTION,
	TPA_STYLE_DIM,
	TPA_STYLE_WARN
};

/* Looks at `out`, NO_COLOR, COLUMNS and the locale (setlocale() must have been called). */
void tpa_page_init(struct tpa_page *page, FILE *out, enum tpa_color color, bool exact);

/* Escape sequences around a piece of text; "" where colours are unwelcome. */
const char *tpa_style_on(const struct tpa_page *page, enum tpa_style style);
const char *tpa_style_off(const struct tpa_page *page);

/* printf in a style; no newline of its own. */
__attribute__((format(printf, 3, 4))) void tpa_print(const struct tpa_page *page, enum tpa_style style,
						     const char *format, ...);

/* A section's headline with an empty line before it. */
__attribute__((format(printf, 2, 3))) void tpa_headline(const struct tpa_page *page, const char *format, ...);

/* Columns that `text` takes on a terminal (UTF-8 aware). */
int tpa_text_columns(const struct tpa_page *page, const char *text);

/* Copies `text` into `buffer`, with the middle left out ("...") if it takes more than `columns`. Returns `buffer`. */
char *tpa_shorten(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size);

/* The same, but the front is left out: of a path the end tells most. */
char *tpa_shorten_front(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size);

/* The same, but the end is left out: of a line of source the beginning tells most. */
char *tpa_shorten_end(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size);

/* A table: cells are added row by row, then everything is printed with aligned columns. */
struct tpa_table;
#define TPA_TABLE_COLUMNS 16

/*
 * `titles`: separated by '|'; a title that begins with '>' is of a right-aligned column, one that begins with '*' takes
 * what is left of the line and is shortened to fit; one that begins with '=' too, and is cut at its end.
 */
struct tpa_table *tpa_table_new(const char *titles);
/* Cells of a row, in order; a new row begins when the columns are used up. Copies the text, with "?" for control characters. */
void tpa_table_add(struct tpa_table *table, enum tpa_style style, const char *text);
static inline void tpa_cell(struct tpa_table *table, enum tpa_style style, struct tpa_text text)
{
	tpa_table_add(table, style, text.text);
}
/* Prints the table, two columns in, and frees it. */
void tpa_table_end(struct tpa_table *table, const struct tpa_page *page);
void tpa_table_free(struct tpa_table *table);

/* Below a table: "and 12 more rows (--top 0 shows all)", if not all were `shown` (0: all were). `what`: " row", or "". */
void tpa_rest_print(const struct tpa_page *page, uint64_t count, uint64_t shown, const char *what);

#endif
