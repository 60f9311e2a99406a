/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: collects the cells, computes widths, then prints. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/text/markdown.h"
#include "report/text/text.h"

#define INDENT 2 /* columns */

struct cell {
	char *text;
	enum tpa_style style;
};

struct tpa_table {
	char *titles;			      /* cut into pieces by NULs */
	const char *title[TPA_TABLE_COLUMNS]; /* without their marks */
	bool right[TPA_TABLE_COLUMNS];
	int columns, wide; /* wide: the column that takes the rest of the line, or -1 */
	bool cut;	   /* cut the wide column at its end, not in its middle */
	struct cell *cells;
	size_t count, capacity;
};

struct tpa_table *tpa_table_new(const char *titles)
{
	struct tpa_table *table = tpa_zalloc(1, sizeof(*table));
	char *next, *title;

	table->wide = -1;
	table->titles = tpa_strdup(titles);
	for (next = table->titles; next && table->columns < TPA_TABLE_COLUMNS; table->columns++) {
		title = strsep(&next, "|");
		table->right[table->columns] = *title == '>';
		if (*title == '*' || *title == '=') {
			table->wide = table->columns;
			table->cut = *title == '=';
		}
		table->title[table->columns] = strchr(">*=", *title) && *title ? title + 1 : title;
	}
	return table;
}

/* Replaces control characters, as names and arguments may hold any bytes. */
static char *printable(const char *text)
{
	char *copy = tpa_strdup(text);

	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	return copy;
}

void tpa_table_add(struct tpa_table *table, enum tpa_style style, const char *text)
{
	tpa_grow(&table->cells, &table->capacity, table->count + 1, sizeof(*table->cells));
	table->cells[table->count].text = printable(text);
	table->cells[table->count].style = style;
	table->count++;
}

static void find_widths(const struct tpa_table *table, const struct tpa_page *page, int *widths)
{
	int least = table->cut ? 60 : 20; /* source is useless if only a line's first words remain */
	int sum = INDENT;

	for (int c = 0; c < table->columns; c++)
		widths[c] = tpa_text_columns(page, table->title[c]);
	for (size_t i = 0; i < table->count; i++) {
		int c = (int)(i % (size_t)table->columns);
		int width = tpa_text_columns(page, table->cells[i].text);

		if (width > widths[c])
			widths[c] = width;
	}
	for (int c = 0; c < table->columns; c++)
		sum += c == table->wide ? 2 : widths[c] + 2;
	if (table->wide >= 0 && widths[table->wide] > page->width - sum) {
		int left = page->width - sum > least ? page->width - sum : least;

		widths[table->wide] = widths[table->wide] < left ? widths[table->wide] : left;
	}
}

/* Prints blanks before the next non-empty cell, so that lines don't end with blanks. */
static void print_cell(const struct tpa_page *page, const char *text, enum tpa_style style, int width, bool right,
		       bool cut, int *blanks)
{
	char buffer[1024];
	int pad;

	if (cut)
		tpa_shorten_end(page, text, width, buffer, sizeof(buffer));
	else
		tpa_shorten(page, text, width, buffer, sizeof(buffer));
	pad = width - tpa_text_columns(page, buffer);
	pad = pad > 0 ? pad : 0;
	if (buffer[0]) {
		fprintf(page->out, "%*s", *blanks + (right ? pad : 0), "");
		tpa_print(page, style, "%s", buffer);
		*blanks = 0;
	}
	*blanks += (right && buffer[0] ? 0 : pad) + 2;
}

static void print_markdown(const struct tpa_table *table, const struct tpa_page *page)
{
	const char *cells[TPA_TABLE_COLUMNS];
	size_t columns = (size_t)table->columns;

	fflush(page->out);
	tpa_markdown_table(page->markdown, table->title, table->right, columns);
	for (size_t i = 0; i < table->count; i++) {
		cells[i % columns] = table->cells[i].text;
		if (i % columns == columns - 1)
			tpa_markdown_row(page->markdown, cells, table->right, columns);
	}
}

static void print_text(const struct tpa_table *table, const struct tpa_page *page)
{
	int widths[TPA_TABLE_COLUMNS], blanks = INDENT;

	find_widths(table, page, widths);
	for (int c = 0; c < table->columns; c++)
		print_cell(page, table->title[c], TPA_STYLE_DIM, widths[c], table->right[c],
			   table->cut && c == table->wide, &blanks);
	for (size_t i = 0; i < table->count; i++) {
		int c = (int)(i % (size_t)table->columns);

		if (c == 0) {
			fputc('\n', page->out);
			blanks = INDENT;
		}
		print_cell(page, table->cells[i].text, table->cells[i].style, widths[c], table->right[c],
			   table->cut && c == table->wide, &blanks);
	}
	fputc('\n', page->out);
}

void tpa_table_end(struct tpa_table *table, const struct tpa_page *page)
{
	if (page->markdown)
		print_markdown(table, page);
	else
		print_text(table, page);
	tpa_table_free(table);
}

void tpa_rest_print(const struct tpa_page *page, uint64_t count, uint64_t shown, const char *what)
{
	if (shown && shown < count)
		tpa_print(page, TPA_STYLE_DIM, "      and %s more%s%s (--top 0 shows all)\n",
			  tpa_count(count - shown).text, what, *what ? tpa_plural(count - shown) : "");
}

void tpa_table_free(struct tpa_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table->titles);
	free(table);
}
