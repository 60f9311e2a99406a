/* SPDX-License-Identifier: Apache-2.0 */
/* Units, styles, widths. */
#include "report/text/text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN 60
#define WIDTH_MAX 240
#define WIDTH_NO_TERMINAL 120

static int find_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = WIDTH_NO_TERMINAL;

	if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col;
	else if (columns && atoi(columns) > 0)
		width = atoi(columns);
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static bool wants_color(FILE *out, enum tp_color color)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color != TP_COLOR_AUTO)
		return color == TP_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

void tp_page_init(struct tp_page *page, FILE *out, enum tp_color color, bool exact)
{
	page->out = out;
	page->color = wants_color(out, color);
	page->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	page->exact = exact;
	page->width = find_width(out);
}

const char *tp_style_on(const struct tp_page *page, enum tp_style style)
{
	static const char *const sequences[] = {
		[TP_STYLE_PLAIN] = "",
		[TP_STYLE_TITLE] = "\033[1m",
		[TP_STYLE_NUMBER] = "\033[1;36m",
		[TP_STYLE_FUNCTION] = "\033[32m",
		[TP_STYLE_DIM] = "\033[2m",
		[TP_STYLE_WARN] = "\033[33m",
	};

	return page->color ? sequences[style] : "";
}

const char *tp_style_off(const struct tp_page *page)
{
	return page->color ? "\033[0m" : "";
}

void tp_print(const struct tp_page *page, enum tp_style style, const char *format, ...)
{
	va_list args;

	fputs(tp_style_on(page, style), page->out);
	va_start(args, format);
	vfprintf(page->out, format, args);
	va_end(args);
	if (style != TP_STYLE_PLAIN)
		fputs(tp_style_off(page), page->out);
}

void tp_headline(const struct tp_page *page, const char *format, ...)
{
	va_list args;

	fprintf(page->out, "\n%s", tp_style_on(page, TP_STYLE_TITLE));
	va_start(args, format);
	vfprintf(page->out, format, args);
	va_end(args);
	fprintf(page->out, "%s\n", tp_style_off(page));
}

struct tp_text tp_count(uint64_t count)
{
	struct tp_text text;
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *p = text.text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return text;
}

const char *tp_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

struct tp_text tp_bytes(uint64_t bytes, bool exact)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct tp_text text = tp_count(bytes);
	double value = (double)bytes;
	size_t unit = 0;

	if (exact || bytes < 1024) {
		strcat(text.text, " B");
		return text;
	}
	/* 999.5 would be printed with four digits: it is the next unit's business. */
	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text.text, sizeof(text.text), "%.*f %s",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, units[unit]);
	return text;
}

struct tp_text tp_time(uint64_t ns)
{
	struct tp_text text;
	uint64_t seconds = ns / 1000000000u;
	double value = (double)ns;
	const char *unit = "ns";

	if (seconds >= 3600) {
		snprintf(text.text, sizeof(text.text), "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
		return text;
	}
	if (seconds >= 120) {
		snprintf(text.text, sizeof(text.text), "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
		return text;
	}
	if (ns < 1000) {
		snprintf(text.text, sizeof(text.text), ns ? "%" PRIu64 " ns" : "%" PRIu64 " s", ns);
		return text;
	}
	if (ns < 999500)
		value /= 1e3, unit = "us";
	else if (ns < 999500000u)
		value /= 1e6, unit = "ms";
	else
		value /= 1e9, unit = "s";
	snprintf(text.text, sizeof(text.text), "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
	return text;
}

struct tp_text tp_percent(uint64_t part, uint64_t whole)
{
	struct tp_text text;
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		snprintf(text.text, sizeof(text.text), "-");
	else if (part && percent < 0.05)
		snprintf(text.text, sizeof(text.text), "<0.1%%");
	else
		snprintf(text.text, sizeof(text.text), "%.1f%%", percent);
	return text;
}

/* Bytes of the character that begins at `text`; 1 for what is no UTF-8. */
static size_t character_bytes(const struct tp_page *page, const char *text)
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

int tp_text_columns(const struct tp_page *page, const char *text)
{
	int columns = 0;

	for (; *text; text += character_bytes(page, text))
		columns++;
	return columns;
}

char *tp_shorten_front(const struct tp_page *page, const char *text, int columns, char *buffer, size_t size)
{
	const char *dots = page->utf8 ? "\xe2\x80\xa6" : "...";
	int skip = tp_text_columns(page, text) - columns;

	if (skip <= 0)
		dots = "";
	for (skip += skip > 0 ? (page->utf8 ? 1 : 3) : 0; skip > 0 && *text; skip--)
		text += character_bytes(page, text);
	snprintf(buffer, size, "%s%s", dots, text);
	return buffer;
}

/* Of `keep` columns beside the dots, `tail` are from the end. */
static char *leave_out(const struct tp_page *page, const char *text, int columns, int keep, int tail, char *buffer,
		       size_t size)
{
	const char *dots = page->utf8 ? "\xe2\x80\xa6" : "...";
	int have = tp_text_columns(page, text);
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

static int beside_dots(const struct tp_page *page, int columns)
{
	int keep = columns - (page->utf8 ? 1 : 3);

	return keep < 2 ? 2 : keep;
}

/* Two thirds from the front, one third from the end: names tell most where they begin. */
char *tp_shorten(const struct tp_page *page, const char *text, int columns, char *buffer, size_t size)
{
	int keep = beside_dots(page, columns);

	return leave_out(page, text, columns, keep, keep / 3, buffer, size);
}

char *tp_shorten_end(const struct tp_page *page, const char *text, int columns, char *buffer, size_t size)
{
	return leave_out(page, text, columns, beside_dots(page, columns), 0, buffer, size);
}
