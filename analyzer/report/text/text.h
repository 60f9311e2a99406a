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

struct tpa_markdown;

enum tpa_color { TPA_COLOR_AUTO, TPA_COLOR_ALWAYS, TPA_COLOR_NEVER };

/* Where a report goes, and its format there. */
struct tpa_page {
	FILE *out;
	bool color;		       /* use escape sequences */
	bool utf8;		       /* the locale is UTF-8 */
	bool exact;		       /* sizes as plain byte counts */
	int width;		       /* columns */
	bool bars;		       /* draw bars and curves in tables: somebody reads them, no program */
	struct tpa_markdown *markdown; /* behind `out`; NULL: the report is plain text */
};

#define TPA_WIDTH_LEAST 60
#define TPA_WIDTH_MOST 1000
#define TPA_WIDTH_MARKDOWN 160 /* unless told: the page that shows it has another width than the terminal */

enum tpa_style {
	TPA_STYLE_PLAIN,
	TPA_STYLE_TITLE,
	TPA_STYLE_NUMBER,
	TPA_STYLE_FUNCTION,
	TPA_STYLE_DIM,
	TPA_STYLE_WARN
};

/*
 * Reads `out`, NO_COLOR, COLUMNS and the locale (call setlocale() first). `width`: from TPA_WIDTH_LEAST to TPA_WIDTH_MOST; 0: that of
 * the terminal.
 */
void tpa_page_init(struct tpa_page *page, FILE *out, enum tpa_color color, bool exact, int width);

/* Escape sequences before and after a piece of text; "" without colours. */
const char *tpa_style_on(const struct tpa_page *page, enum tpa_style style);
const char *tpa_style_off(const struct tpa_page *page);

/* printf in a style; adds no newline. */
__attribute__((format(printf, 3, 4))) void tpa_print(const struct tpa_page *page, enum tpa_style style,
						     const char *format, ...);

/* Prints an empty line and a section's headline. */
__attribute__((format(printf, 2, 3))) void tpa_headline(const struct tpa_page *page, const char *format, ...);

/* Columns that `text` takes on a terminal (UTF-8 aware). */
int tpa_text_columns(const struct tpa_page *page, const char *text);

/* Copies `text` into `buffer`, with the middle left out ("...") if it takes more than `columns`. Returns `buffer`. */
char *tpa_shorten(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size);

/* The same, but leaves out the front: the end of a path says most. */
char *tpa_shorten_front(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size);

/* The same, but leaves out the end: the beginning of a line of source says most. */
char *tpa_shorten_end(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size);

/* A table: add cells row by row, then print everything with aligned columns. */
struct tpa_table;
#define TPA_TABLE_COLUMNS 16

/*
 * `titles`: separated by '|'. '>' at the start of a title aligns its column to the right; '*' lets the column take the
 * rest of the line and shortens it to fit; '=' does the same, but cuts at the end.
 */
struct tpa_table *tpa_table_new(const char *titles);
/*
 * Adds a row's cells in order; a new row begins after the last column. Copies the text, with "?" for control
 * characters.
 */
void tpa_table_add(struct tpa_table *table, enum tpa_style style, const char *text);
static inline void tpa_cell(struct tpa_table *table, enum tpa_style style, struct tpa_text text)
{
	tpa_table_add(table, style, text.text);
}
/* Prints the table, indented by two columns, and frees it. */
void tpa_table_end(struct tpa_table *table, const struct tpa_page *page);
void tpa_table_free(struct tpa_table *table);

/*
 * Prints "and 12 more rows (--top 0 shows all)" below a table if fewer than `count` rows were `shown` (0: all were).
 * `what`: " row" or "".
 */
void tpa_rest_print(const struct tpa_page *page, uint64_t count, uint64_t shown, const char *what);

#endif
