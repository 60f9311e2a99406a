/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one HTML file. It makes no requests; its content security policy allows only its own style and script,
 * by their hashes; it is also well-formed XML. It shows the figures of the commands' JSON, each with its exact value
 * (data-v) and JSON key (data-k). Text from a trace is always escaped, never markup.
 */
#ifndef TPROF_REPORT_HTML_HTML_H
#define TPROF_REPORT_HTML_HTML_H

#include <jansson.h>

#include "report/text/text.h"

struct tpa_html {
	FILE *out;
	bool exact; /* sizes as plain byte counts */
};

/*
 * Write everything from the doctype to the start of <body>, a footer that says how to read the page and `more`, and the end of
 * the page.
 */
void tpa_html_begin(const struct tpa_html *html, const char *title);
void tpa_html_foot(const struct tpa_html *html, const char *more);
void tpa_html_end(const struct tpa_html *html);

/* Writes the text, escaped. */
void tpa_html_text(const struct tpa_html *html, const char *text);
__attribute__((format(printf, 2, 3))) void tpa_html_print(const struct tpa_html *html, const char *format, ...);

/* Writes <TAG>text</TAG>. `class` may be NULL. Tag and class must be literals: they are not escaped. */
__attribute__((format(printf, 4, 5))) void tpa_html_element(const struct tpa_html *html, const char *tag,
							    const char *class, const char *format, ...);

/* Writes the lines of a text report as elements. `print` writes to the page that it gets. */
void tpa_html_quote(const struct tpa_html *html, const char *class,
		    void (*print)(const struct tpa_page *page, const void *context), const void *context);

/* How to format a figure. */
enum tpa_html_kind {
	TPA_HTML_TEXT,
	TPA_HTML_CODE,	 /* a name from the program: functions, ops */
	TPA_HTML_NUMBER, /* an ordinal or identifier, not a count */
	TPA_HTML_COUNT,
	TPA_HTML_BYTES,
	TPA_HTML_RATE, /* fractional bytes */
	TPA_HTML_TIME,
	TPA_HTML_SHARE, /* 1 is all */
	TPA_HTML_REAL,
	TPA_HTML_FACTOR,
	TPA_HTML_UNIT,	  /* bytes if the row's "unit" is so, else a count */
	TPA_HTML_PERCENT, /* of the table's whole; derived from a figure that is in the row already */
	TPA_HTML_FLOPS,	  /* FLOP/s: FLOP ("flop") by time ("total_ns") */
	TPA_HTML_PLACE,	  /* the row's "file" and "line" */
	TPA_HTML_STACK,	  /* the row's "stack", "own", "op" and "held_by" */
	TPA_HTML_SHAPES,  /* a name that unfolds the row's "shapes" */
	TPA_HTML_NAMES,	  /* a list of names with times */
	TPA_HTML_VERDICT,
	TPA_HTML_BRANCH, /* a name, indented by the row's "depth" */
};

/* A JSON value as text; an array of two gives a range. */
struct tpa_text tpa_html_figure(const struct tpa_html *html, enum tpa_html_kind kind, const json_t *value);

/* Writes data-k and data-v for a number or an interval. */
void tpa_html_put_value(const struct tpa_html *html, const char *key, const json_t *value);

/* Finds "heap.peak_bytes" in nested objects; NULL if it is missing or null. */
const json_t *tpa_html_at(const json_t *json, const char *path);
json_int_t tpa_html_integer(const json_t *json, const char *path); /* 0 if it is missing */
size_t tpa_html_count(const json_t *json, const char *path);	   /* length of a list */

#endif
