/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one HTML file: no request leaves it, its style and script are in it and named by their hashes in its content
 * security policy, and it is well-formed XML too. It shows the figures of the same JSON that the commands print, each with
 * its exact value beside it (data-v) and the key that it has there (data-k). What is in a trace is text here, never markup.
 */
#ifndef TPROF_REPORT_HTML_HTML_H
#define TPROF_REPORT_HTML_HTML_H

#include <jansson.h>

#include "report/text/text.h"

struct tp_html {
	FILE *out;
	bool exact; /* sizes as plain byte counts */
};

/* From the doctype to the beginning of <body>; its end. */
void tp_html_begin(const struct tp_html *html, const char *title);
void tp_html_end(const struct tp_html *html);

/* Escaped, all of it. */
void tp_html_text(const struct tp_html *html, const char *text);
__attribute__((format(printf, 2, 3))) void tp_html_print(const struct tp_html *html, const char *format, ...);

/* <TAG>text</TAG>; `class` may be NULL. Tag and class are the program's own words. */
__attribute__((format(printf, 4, 5))) void tp_html_element(const struct tp_html *html, const char *tag,
							   const char *class, const char *format, ...);

/* What a report in text says of something: its lines, as elements of their own. `print` writes to the page. */
void tp_html_quote(const struct tp_html *html, const char *class,
		   void (*print)(const struct tp_page *page, const void *context), const void *context);

/* How a figure is written. */
enum tp_html_kind {
	TP_HTML_TEXT,
	TP_HTML_CODE,	/* a name out of the program: functions, ops */
	TP_HTML_NUMBER, /* of something: it counts nothing */
	TP_HTML_COUNT,
	TP_HTML_BYTES,
	TP_HTML_RATE, /* bytes, not whole ones */
	TP_HTML_TIME,
	TP_HTML_SHARE, /* 1: all */
	TP_HTML_REAL,
	TP_HTML_FACTOR,
	TP_HTML_PERCENT, /* of the table's whole; the figure stands in the row already */
	TP_HTML_FLOPS,	 /* FLOP ("flop") a time ("total_ns") */
	TP_HTML_PLACE,	 /* "file" and "line" of the row */
	TP_HTML_STACK,	 /* "stack", "own", "op" and "held_by" of the row */
	TP_HTML_SHAPES,	 /* a name, with "shapes" of the row to unfold */
	TP_HTML_NAMES,	 /* a list of names with times */
	TP_HTML_VERDICT,
	TP_HTML_BRANCH, /* a name, as deep as the row's "depth" */
};

/* A JSON value as text; of an array of two, from the one to the other. */
struct tp_text tp_html_figure(const struct tp_html *html, enum tp_html_kind kind, const json_t *value);

/* data-k and data-v, of a number or an interval. */
void tp_html_put_value(const struct tp_html *html, const char *key, const json_t *value);

/* "heap.peak_bytes" in nested objects; NULL: there is none such, or it is null. */
const json_t *tp_html_at(const json_t *json, const char *path);
json_int_t tp_html_integer(const json_t *json, const char *path); /* 0: there is none */
size_t tp_html_count(const json_t *json, const char *path);	  /* of a list */

#endif
