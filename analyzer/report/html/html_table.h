/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and lists of facts in an HTML report, each of a list or an object of the report's JSON. */
#ifndef TPROF_REPORT_HTML_HTML_TABLE_H
#define TPROF_REPORT_HTML_HTML_TABLE_H

#include "report/html/html.h"
#include "report/rows/column.h"

struct tpa_html_column {
	const char *title, *key;
	enum tpa_html_kind kind;
	const char *hint; /* NULL, or what it means: shown where it is pointed at */
};

/* What ends columns and facts. */
#define TPA_HTML_END                                                                                                   \
	{                                                                                                              \
		NULL, NULL, TPA_HTML_TEXT, NULL                                                                        \
	}

struct tpa_html_table {
	const char *path;		       /* of the list in the JSON: how a test finds it */
	const struct tpa_html_column *columns; /* the last has a NULL key */
	/* Or, without them: keys of these. One may have a kind behind it, as in "name:shapes": see `special` in html_table.c. */
	const struct tpa_column *described;
	const char *keys;
	json_int_t total; /* rows that there are; those beyond the list are said to be left out */
	json_int_t whole; /* what percentages are of */
	bool ordered;	  /* the order says something: not to be sorted */
	const char *cwd;  /* NULL, or what places are told without */
};

/* Nothing if the list is empty. */
void tpa_html_table(const struct tpa_html *html, const struct tpa_html_table *table, const json_t *rows);

struct tpa_html_fact {
	const char *title, *path; /* the last has a NULL title */
	enum tpa_html_kind kind;
	const char *hint;
};

/* Those of the facts that the object has. `class` of the list. */
void tpa_html_facts(const struct tpa_html *html, const char *class, const struct tpa_html_fact *facts,
		    const json_t *json);

#endif
