/* SPDX-License-Identifier: Apache-2.0 */
/* Styles and widths. */
#include "report/text/text.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/memory.h"
#include "report/text/markdown.h"
#include "report/text/pager.h"

#define WIDTH_MAX 240 /* unless told */
#define WIDTH_NO_TERMINAL 120
#define BARS_WIDTH 80 /* a narrower page needs the room for names */

static int find_width(int terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = WIDTH_NO_TERMINAL;

	if (terminal >= 0 && ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col;
	else if (columns && atoi(columns) > 0)
		width = atoi(columns);
	return width < TPA_WIDTH_LEAST ? TPA_WIDTH_LEAST : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static bool wants_color(int terminal, enum tpa_color color)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color != TPA_COLOR_AUTO)
		return color == TPA_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return terminal >= 0 && term && strcmp(term, "dumb") != 0;
}

void tpa_page_init(struct tpa_page *page, FILE *out, enum tpa_color color, bool exact, int width)
{
	int terminal = tpa_terminal_of(out);

	page->out = out;
	page->markdown = NULL;
	page->color = wants_color(terminal, color);
	page->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	page->exact = exact;
	page->width = width ? width : find_width(terminal);
	page->bars = terminal >= 0 && page->width >= BARS_WIDTH;
}

const char *tpa_style_on(const struct tpa_page *page, enum tpa_style style)
{
	static const char *const sequences[] = {
		[TPA_STYLE_PLAIN] = "",
		[TPA_STYLE_TITLE] = "\033[1m",
		[TPA_STYLE_NUMBER] = "\033[1;36m",
		[TPA_STYLE_FUNCTION] = "\033[32m",
		[TPA_STYLE_DIM] = "\033[2m",
		[TPA_STYLE_WARN] = "\033[33m",
	};

	return page->color ? sequences[style] : "";
}

const char *tpa_style_off(const struct tpa_page *page)
{
	return page->color ? "\033[0m" : "";
}

void tpa_print(const struct tpa_page *page, enum tpa_style style, const char *format, ...)
{
	va_list args;

	fputs(tpa_style_on(page, style), page->out);
	va_start(args, format);
	vfprintf(page->out, format, args);
	va_end(args);
	if (style != TPA_STYLE_PLAIN)
		fputs(tpa_style_off(page), page->out);
}

void tpa_headline(const struct tpa_page *page, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	tpa_need(vasprintf(&text, format, args) >= 0);
	va_end(args);
	if (page->markdown) {
		fflush(page->out);
		tpa_markdown_headline(page->markdown, text);
	} else {
		fprintf(page->out, "\n%s%s%s\n", tpa_style_on(page, TPA_STYLE_TITLE), text, tpa_style_off(page));
	}
	free(text);
}

/* Bytes of the character at `text`; 1 if it is not UTF-8. */
static size_t character_bytes(const struct tpa_page *page, const char *text)
{
	unsigned char first = (unsigned char)text[0];
	size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

	if (!page->utf8)
		return 1;
	for (size_t i = 1; i < bytes; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 1;
	return bytes;
}

int tpa_text_columns(const struct tpa_page *page, const char *text)
{
	int columns = 0;

	for (; *text; text += character_bytes(page, text))
		columns++;
	return columns;
}

char *tpa_shorten_front(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size)
{
	const char *dots = page->utf8 ? "\xe2\x80\xa6" : "...";
	int skip = tpa_text_columns(page, text) - columns;

	if (skip <= 0)
		dots = "";
	for (skip += skip > 0 ? (page->utf8 ? 1 : 3) : 0; skip > 0 && *text; skip--)
		text += character_bytes(page, text);
	snprintf(buffer, size, "%s%s", dots, text);
	return buffer;
}

/* Keeps `keep` columns in addition to the dots, `tail` of them from the end. */
static char *leave_out(const struct tpa_page *page, const char *text, int columns, int keep, int tail, char *buffer,
		       size_t size)
{
	const char *dots = page->utf8 ? "\xe2\x80\xa6" : "...";
	int have = tpa_text_columns(page, text);
	size_t used = 0;
	int column = 0;
	bool cut = false;

	for (const char *p = text; *p && used + 8 < size; column++) {
		size_t bytes = character_bytes(page, p);

		if (have > columns && column >= keep - tail && column < have - tail) {
			if (!cut)
				used += (size_t)sprintf(buffer + used, "%s", dots);
			cut = true;
		} else {
			memcpy(buffer + used, p, bytes);
			used += bytes;
		}
		p += bytes;
	}
	buffer[used] = '\0';
	return buffer;
}

static int beside_dots(const struct tpa_page *page, int columns)
{
	int keep = columns - (page->utf8 ? 1 : 3);

	return keep < 2 ? 2 : keep;
}

/* Keeps two thirds at the front and one third at the end: the start of a name says most. */
char *tpa_shorten(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size)
{
	int keep = beside_dots(page, columns);

	return leave_out(page, text, columns, keep, keep / 3, buffer, size);
}

char *tpa_shorten_end(const struct tpa_page *page, const char *text, int columns, char *buffer, size_t size)
{
	return leave_out(page, text, columns, beside_dots(page, columns), 0, buffer, size);
}
