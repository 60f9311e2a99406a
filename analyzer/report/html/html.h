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

struct tpa_html {
	FILE *out;
	bool exact; /* sizes as plain byte counts */
};

/* From the doctype to the beginning of <body>; its end. */
void tpa_html_begin(const struct tpa_html *html, const char *title);
void tpa_html_end(const struct tpa_html *html);

/* Escaped, all of it. */
void tpa_html_text(const struct tpa_html *html, const char *text);
__attribute__((format(printf, 2, 3))) void tpa_html_print(const struct tpa_html *html, const char *format, ...);

/* <TAG>text</TAG>; `class` may be NULL. Tag and class are the program's own words. */
__attribute__((format(printf, 4, 5))) void tpa_html_element(const struct tpa_html *html, const char *tag,
							    const char *class, const char *format, ...);

/* What a report in text says of something: its lines, as elements of their own. `print` writes to the page. */
void tpa_html_quote(const struct tpa_html *html, const char *class,
		    void (*print)(const struct tpa_page *page, const void *context), const void *context);

/* How a figure is written. */
enum tpa_html_kind {
	TPA_HTML_TEXT,
	TPA_HTML_CODE,	 /* a name out of the program: functions, ops */
	TPA_HTML_NUMBER, /* of something: it counts nothing */
	TPA_HTML_COUNT,
	TPA_HTML_BYTES,
	TPA_HTML_RATE, /* bytes, not whole ones */
	TPA_HTML_TIME,
	TPA_HTML_SHARE, /* 1: all */
	TPA_HTML_REAL,
	TPA_HTML_FACTOR,
	TPA_HTML_PERCENT, /* of the table's whole; the figure stands in the row already */
	TPA_HTML_FLOPS,	  /* FLOP ("flop") a time ("total_ns") */
	TPA_HTML_PLACE,	  /* "file" and "line" of the row */
	TPA_HTML_STACK,	  /* "stack", "own", "op" and "held_by" of the row */
	TPA_HTML_SHAPES,  /* a name, with "shapes" of the row to unfold */
	TPA_HTML_NAMES,	  /* a list of names with times */
	TPA_HTML_VERDICT,
	TPA_HTML_BRANCH, /* a name, as deep as the row's "depth" */
};

/* A JSON value as text; of an array of two, from the one to the other. */
struct tpa_text tpa_html_figure(const struct tpa_html *html, enum tpa_html_kind kind, const json_t *value);

/* data-k and data-v, of a number or an interval. */
void tpa_html_put_value(const struct tpa_html *html, const char *key, const json_t *value);

/* "heap.peak_bytes" in nested objects; NULL: there is none such, or it is null. */
const json_t *tpa_html_at(const json_t *json, const char *path);
json_int_t tpa_html_integer(const json_t *json, const char *path); /* 0: there is none */
size_t tpa_html_count(const json_t *json, const char *path);	   /* of a list */

#endif
