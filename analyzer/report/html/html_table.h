/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and lists of facts in an HTML report, each of a list or an object of the report's JSON. */
#ifndef TPROF_REPORT_HTML_HTML_TABLE_H
#define TPROF_REPORT_HTML_HTML_TABLE_H

#include "report/html/html.h"
#include "report/rows/column.h"

struct tp_html_column {
	const char *title, *key;
	enum tp_html_kind kind;
	const char *hint; /* NULL, or what it means: shown where it is pointed at */
};

/* What ends columns and facts. */
#define TP_HTML_END                                                                                                    \
	{                                                                                                              \
		NULL, NULL, TP_HTML_TEXT, NULL                                                                         \
	}

struct tp_html_table {
	const char *path;		      /* of the list in the JSON: how a test finds it */
	const struct tp_html_column *columns; /* the last has a NULL key; without a title: as `described` says */
	const struct tp_column *described;
	json_int_t total; /* rows that there are; those beyond the list are said to be left out */
	json_int_t whole; /* what percentages are of */
	bool ordered;	  /* the order says something: not to be sorted */
	const char *cwd;  /* NULL, or what places are told without */
};

/* Nothing if the list is empty. */
void tp_html_table(const struct tp_html *html, const struct tp_html_table *table, const json_t *rows);

struct tp_html_fact {
	const char *title, *path; /* the last has a NULL title */
	enum tp_html_kind kind;
	const char *hint;
};

/* Those of the facts that the object has. `class` of the list. */
void tp_html_facts(const struct tp_html *html, const char *class, const struct tp_html_fact *facts, const json_t *json);

#endif
