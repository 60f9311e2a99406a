/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/plot.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LABEL 11 /* columns left of the axis */

/* The picture in dots. A braille character has eight: two wide, four high. */
struct canvas {
	int columns, rows;    /* of characters */
	int width, height;    /* of dots */
	uint64_t *live, *rss; /* largest value within each column of dots */
	uint64_t top;	      /* value at the upper edge */
};

/* Rounds `bytes` up to a number that gives readable axis labels. */
static uint64_t round_up(uint64_t bytes)
{
	static const double steps[] = { 1,  1.2, 1.5, 2,  2.5, 3,   4,	 5,   6,   8,	10,  12,  15,  20,  25,	 30,
					40, 50,	 60,  80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800, 1024 };
	uint64_t unit = 1;

	while (unit < UINT64_MAX / 2048 && bytes > unit * 1024)
		unit *= 1024;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] * (double)unit >= (double)bytes)
			return (uint64_t)(steps[i] * (double)unit);
	return bytes;
}

static void canvas_init(struct canvas *canvas, const struct tpa_page *page, int rows)
{
	memset(canvas, 0, sizeof(*canvas));
	canvas->columns = page->width - LABEL - 3;
	canvas->rows = rows;
	canvas->width = 2 * canvas->columns;
	canvas->height = 4 * rows;
	canvas->live = tpa_zalloc((size_t)canvas->width, sizeof(*canvas->live));
	canvas->rss = tpa_zalloc((size_t)canvas->width, sizeof(*canvas->rss));
}

static int column_of(const struct canvas *canvas, uint64_t time, uint64_t from, uint64_t to)
{
	double at = (double)(time - from) / (double)(to - from) * canvas->width;

	return at >= canvas->width ? canvas->width - 1 : (int)at;
}

/* A value holds until the next point; a column shows the largest value in its time. */
static void fill(struct canvas *canvas, const struct tpa_point *points, size_t count, uint64_t from, uint64_t to)
{
	uint64_t live = 0, rss = 0, max = 1;
	int column = 0;

	for (size_t i = 0; i < count; i++) {
		int at;

		if (points[i].time_ns < from || points[i].time_ns > to)
			continue;
		at = column_of(canvas, points[i].time_ns, from, to);
		for (; column < at; column++) {
			canvas->live[column] = live > canvas->live[column] ? live : canvas->live[column];
			canvas->rss[column] = rss > canvas->rss[column] ? rss : canvas->rss[column];
		}
		live = points[i].live_bytes;
		rss = points[i].rss;
		canvas->live[at] = live > canvas->live[at] ? live : canvas->live[at];
		canvas->rss[at] = rss > canvas->rss[at] ? rss : canvas->rss[at];
		max = live > max ? live : max;
		max = rss > max ? rss : max;
	}
	for (; column < canvas->width; column++)
		if (!canvas->live[column]) {
			canvas->live[column] = live;
			canvas->rss[column] = rss;
		}
	canvas->top = round_up(max);
}

static int dots_of(const struct canvas *canvas, uint64_t value)
{
	int dots = (int)((double)value / (double)canvas->top * canvas->height + 0.5);

	return value && !dots ? 1 : dots;
}

/* Is the dot at (x, y) set? y counts from below. */
static bool dot(const struct canvas *canvas, int x, int y)
{
	return y < dots_of(canvas, canvas->live[x]) || (canvas->rss[x] && y == dots_of(canvas, canvas->rss[x]) - 1);
}

static void draw_braille(const struct canvas *canvas, const struct tpa_page *page, int column, int row)
{
	/* Bits of a braille character's dots, from its lower edge upwards, left and right. */
	static const unsigned char bits[4][2] = { { 0x40, 0x80 }, { 0x04, 0x20 }, { 0x02, 0x10 }, { 0x01, 0x08 } };
	unsigned int character = 0x2800;

	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 2; x++)
			if (dot(canvas, 2 * column + x, 4 * row + y))
				character |= bits[y][x];
	if (character == 0x2800)
		fputc(' ', page->out);
	else
		fprintf(page->out, "%c%c%c", 0xe0 | (int)(character >> 12), 0x80 | (int)(character >> 6 & 0x3f),
			0x80 | (int)(character & 0x3f));
}

static void draw_ascii(const struct canvas *canvas, const struct tpa_page *page, int column, int row)
{
	int live = dots_of(canvas, canvas->live[2 * column]), rss = dots_of(canvas, canvas->rss[2 * column]);

	if (live > 4 * row + 1)
		fputc('#', page->out);
	else if (live > 4 * row)
		fputc('.', page->out);
	else if (rss > 4 * row && rss <= 4 * row + 4)
		fputc('-', page->out);
	else
		fputc(' ', page->out);
}

/* The number of columns in a row up to its last non-empty one. */
static int row_end(const struct canvas *canvas, int row)
{
	int end = canvas->columns;

	for (; end > 0; end--)
		for (int y = 4 * row; y < 4 * row + 4; y++)
			if (dot(canvas, 2 * end - 2, y) || dot(canvas, 2 * end - 1, y))
				return end;
	return end;
}

static void draw_rows(const struct canvas *canvas, const struct tpa_page *page)
{
	for (int row = canvas->rows - 1; row >= 0; row--) {
		bool labelled = row == canvas->rows - 1 || row == canvas->rows / 2 - 1;
		uint64_t value = canvas->top / (uint64_t)canvas->rows * (uint64_t)(row + 1);

		if (row == canvas->rows - 1)
			value = canvas->top;
		fprintf(page->out, "%*s %s", LABEL, labelled ? tpa_bytes(value, false).text : "",
			page->utf8 ? labelled ? "\xe2\x94\xa4" : "\xe2\x94\x82" : "|");
		fputs(tpa_style_on(page, TPA_STYLE_NUMBER), page->out);
		for (int column = 0; column < row_end(canvas, row); column++)
			if (page->utf8)
				draw_braille(canvas, page, column, row);
			else
				draw_ascii(canvas, page, column, row);
		fprintf(page->out, "%s\n", tpa_style_off(page));
	}
}

static void draw_axis(const struct canvas *canvas, const struct tpa_page *page, uint64_t from, uint64_t to)
{
	struct tpa_text first = tpa_time(from), middle = tpa_time(from + (to - from) / 2), last = tpa_time(to);
	int room = canvas->columns, left = (int)strlen(first.text), right = (int)strlen(last.text);
	int center = (int)strlen(middle.text);

	fprintf(page->out, "%*s %s", LABEL, "0 B", page->utf8 ? "\xe2\x94\x94" : "+");
	for (int i = 0; i < canvas->columns; i++)
		fputs(page->utf8 ? "\xe2\x94\x80" : "-", page->out);
	fprintf(page->out, "\n%*s  %s%*s%s%*s%s\n", LABEL, "", first.text, room / 2 - left - center / 2, "",
		middle.text, room - room / 2 - (center - center / 2) - right, "", last.text);
}

void tpa_plot(const struct tpa_page *page, const struct tpa_point *points, size_t count, uint64_t from_ns,
	      uint64_t to_ns, int rows)
{
	struct canvas canvas;

	if (to_ns <= from_ns)
		to_ns = from_ns + 1;
	canvas_init(&canvas, page, rows);
	fill(&canvas, points, count, from_ns, to_ns);
	draw_rows(&canvas, page);
	draw_axis(&canvas, page, from_ns, to_ns);
	free(canvas.live);
	free(canvas.rss);
}
