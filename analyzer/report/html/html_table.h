/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and lists of facts in an HTML report, made from lists and objects of the report's JSON. */
#ifndef TPROF_REPORT_HTML_HTML_TABLE_H
#define TPROF_REPORT_HTML_HTML_TABLE_H

#include "report/html/html.h"
#include "report/rows/column.h"

struct tpa_html_column {
	const char *title, *key;
	enum tpa_html_kind kind;
	const char *hint; /* NULL, or an explanation shown on hover */
};

/* Terminates columns and facts. */
#define TPA_HTML_END                                                                                                   \
	{                                                                                                              \
		NULL, NULL, TPA_HTML_TEXT, NULL                                                                        \
	}

struct tpa_html_table {
	const char *path;		       /* the list's path in the JSON, for tests */
	const struct tpa_html_column *columns; /* ends with a NULL key */
	/*
	 * Alternatively, keys of these columns. A key may have a kind after it, as in "name:shapes": see `special` in
	 * html_table.c.
	 */
	const struct tpa_column *described;
	const char *keys;
	json_int_t total; /* total rows; the page says how many are left out */
	json_int_t whole; /* total for percentages */
	bool ordered;	  /* the order has a meaning: don't make it sortable */
	bool known;	  /* leave out columns that no row has a value for; not with `described` */
	const char *cwd;  /* NULL, or the folder to remove from places */
};

/* Writes nothing if the list is empty. */
void tpa_html_table(const struct tpa_html *html, const struct tpa_html_table *table, const json_t *rows);

struct tpa_html_fact {
	const char *title, *path; /* ends with a NULL title */
	enum tpa_html_kind kind;
	const char *hint;
};

/* Writes the facts that the object has. `class` is the list's. */
void tpa_html_facts(const struct tpa_html *html, const char *class, const struct tpa_html_fact *facts,
		    const json_t *json);

#endif
