/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html_diff.h"

#include "report/html/html_table.h"
#include "report/json/json_value.h"
#include "report/text/diff_listing.h"

/* ---- rows ---- */

/* The keys of a row's two values, in each list. */
static const char *const sides[][2] = { { "old", "new" },
					{ "old_bytes", "new_bytes" },
					{ "old_rate", "new_rate" },
					{ "old_share", "new_share" },
					{ "old_p50_ns", "new_p50_ns" } };

/* A copy of the rows, each with "change", which has a sign, and "is": the verdict in words. */
static json_t *worded(const json_t *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_copy(json_array_get(rows, i));

		tpa_json_set(row, "is", json_string(tpa_diff_verdict(row).text));
		for (size_t s = 0; s < sizeof(sides) / sizeof(sides[0]); s++) {
			const json_t *before = json_object_get(row, sides[s][0]);
			const json_t *now = json_object_get(row, sides[s][1]);

			if (json_is_number(before) && json_is_number(now))
				tpa_json_set(row, "change",
					     json_real(json_number_value(now) - json_number_value(before)));
		}
		if (json_object_get(row, "stack"))
			json_object_del(row, "name");
		json_array_append_new(list, row);
	}
	return list;
}

/* Of one run a side, p is not known of any row: such columns are left out. */
static void put_table(const struct tpa_html *html, const char *path, const struct tpa_html_column *columns,
		      const json_t *rows)
{
	const struct tpa_html_table table = { .path = path, .columns = columns, .known = true };
	json_t *list = worded(rows);

	tpa_html_table(html, &table, list);
	json_decref(list);
}

/* ---- lists ---- */

#define RATIO                                                                                                          \
	{                                                                                                              \
		"new / old", "ratio", TPA_HTML_FACTOR, "with its 95% interval"                                         \
	}
#define P                                                                                                              \
	{                                                                                                              \
		"p", "p_corrected", TPA_HTML_REAL, "the probability that chance alone gives such a difference"         \
	}
#define VERDICT                                                                                                        \
	{                                                                                                              \
		"is", "is", TPA_HTML_VERDICT, NULL                                                                     \
	}

/* Of rows by stack that, else their names. */
#define WHERE                                                                                                          \
	{ "where", "stack", TPA_HTML_STACK, "unfold for the whole stack" },                                            \
	{                                                                                                              \
		"where", "name", TPA_HTML_CODE, NULL                                                                   \
	}

static const struct tpa_html_column totals[] = {
	{ "total", "name", TPA_HTML_TEXT, NULL },
	{ "old", "old", TPA_HTML_UNIT, NULL },
	{ "new", "new", TPA_HTML_UNIT, NULL },
	{ "change", "change", TPA_HTML_UNIT, NULL },
	RATIO,
	P,
	VERDICT,
	TPA_HTML_END,
};
static const struct tpa_html_column memory[] = {
	{ "change", "change", TPA_HTML_BYTES, NULL },
	{ "old", "old_bytes", TPA_HTML_BYTES, NULL },
	{ "new", "new_bytes", TPA_HTML_BYTES, NULL },
	RATIO,
	P,
	VERDICT,
	WHERE,
	TPA_HTML_END,
};
static const struct tpa_html_column rates[] = {
	{ "change", "change", TPA_HTML_RATE, NULL },
	{ "old", "old_rate", TPA_HTML_RATE, NULL },
	{ "new", "new_rate", TPA_HTML_RATE, NULL },
	P,
	VERDICT,
	WHERE,
	TPA_HTML_END,
};
static const struct tpa_html_column ops[] = {
	{ "op", "name", TPA_HTML_CODE, NULL },
	{ "old calls", "old_calls", TPA_HTML_COUNT, NULL },
	{ "new calls", "new_calls", TPA_HTML_COUNT, NULL },
	{ "old", "old_p50_ns", TPA_HTML_TIME, "median of a call" },
	{ "new", "new_p50_ns", TPA_HTML_TIME, "median of a call" },
	{ "old total", "old_total_ns", TPA_HTML_TIME, NULL },
	{ "new total", "new_total_ns", TPA_HTML_TIME, NULL },
	{ "speed-up", "speedup", TPA_HTML_FACTOR, "with its 95% interval" },
	P,
	VERDICT,
	TPA_HTML_END,
};
static const struct tpa_html_column times[] = {
	{ "time", "name", TPA_HTML_TEXT, NULL },
	{ "old", "old_p50_ns", TPA_HTML_TIME, "median" },
	{ "new", "new_p50_ns", TPA_HTML_TIME, "median" },
	{ "change", "change", TPA_HTML_TIME, NULL },
	{ "speed-up", "speedup", TPA_HTML_FACTOR, "with its 95% interval" },
	P,
	VERDICT,
	TPA_HTML_END,
};
static const struct tpa_html_column shares[] = {
	{ "change", "change", TPA_HTML_SHARE, NULL },
	{ "old", "old_share", TPA_HTML_SHARE, NULL },
	{ "new", "new_share", TPA_HTML_SHARE, NULL },
	P,
	VERDICT,
	WHERE,
	TPA_HTML_END,
};

static const struct list {
	const char *key, *title, *known; /* known: the flag that says that both sides recorded it; NULL: always */
	const struct tpa_html_column *columns;
} lists[] = {
	{ "peak", "Memory at the peak", "heap_known", memory },
	{ "unfreed", "Unfreed memory", "heap_known", memory },
	{ "allocated", "Allocated memory", "heap_known", memory },
	{ "times", "Times", NULL, times },
	{ "ops", "Ops: time of a call", NULL, ops },
	{ "cpu", "CPU time: share of the samples", "cpu_known", shares },
	{ "cpu_stacks", "CPU time by stack", "cpu_known", shares },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

struct part {
	const json_t *json;
	const char *key;
};

static void print_left_out(const struct tpa_page *page, const void *context)
{
	const struct part *part = context;

	tpa_diff_left_out_print(page, part->json, part->key);
}

static void begin_list(const struct tpa_html *html, const char *key, const char *title, bool open)
{
	fprintf(html->out, "<details id=\"differences-%s\"%s><summary>", key, open ? " open=\"open\"" : "");
	tpa_html_element(html, "h4", NULL, "%s", title);
	fputs("</summary>\n", html->out);
}

static void put_list(const struct tpa_html *html, const json_t *json, const struct list *list, bool open)
{
	const json_t *rows = json_object_get(json, list->key);
	const struct part part = { json, list->key };

	begin_list(html, list->key, list->title, open);
	if (list->known && !json_is_true(json_object_get(json, list->known)))
		tpa_html_element(html, "p", NULL, "Not known: a side did not record it.");
	else if (!json_array_size(rows))
		tpa_html_element(html, "p", NULL, "Nothing differs.");
	put_table(html, list->key, list->columns, rows);
	tpa_html_quote(html, "rest", print_left_out, &part);
	fputs("</details>\n", html->out);
}

static void print_growth(const struct tpa_page *page, const void *json)
{
	tpa_diff_growth_print(page, json);
}

static void put_growth(const struct tpa_html *html, const json_t *json)
{
	const struct part part = { json, "leaks" };

	begin_list(html, part.key, tpa_diff_growth_title(json), true);
	tpa_html_quote(html, NULL, print_growth, json);
	put_table(html, "leaks", rates, json_object_get(json, "leaks"));
	tpa_html_quote(html, "rest", print_left_out, &part);
	fputs("</details>\n", html->out);
}

static void put_notes(const struct tpa_html *html, const json_t *json, bool open)
{
	const json_t *notes = json_object_get(json, "notes");
	const char *texts[TPA_DIFF_EXPLANATIONS];
	size_t count = tpa_diff_explain(json, texts);

	begin_list(html, "notes", "What these words mean", open);
	fputs("<ul class=\"notes\">\n", html->out);
	for (size_t i = 0; i < json_array_size(notes); i++)
		tpa_html_element(html, "li", "warn", "%s", json_string_value(json_array_get(notes, i)));
	for (size_t i = 0; i < count; i++)
		tpa_html_element(html, "li", NULL, "%s", texts[i]);
	fputs("</ul></details>\n", html->out);
}

static void put_contents(const struct tpa_html *html, const json_t *json)
{
	static const char *const labels[LISTS] = {
		"Peak", "Unfreed", "Allocated", "Times", "Ops", "CPU", "CPU by stack"
	};

	fputs("<nav aria-label=\"Sections\"><a href=\"#differences\">Totals</a>\n", html->out);
	if (json_is_object(json_object_get(json, "growth")))
		fputs("<a href=\"#differences-leaks\">Growth</a>\n", html->out);
	for (size_t i = 0; i < LISTS; i++)
		if (json_object_get(json, lists[i].key))
			fprintf(html->out, "<a href=\"#differences-%s\">%s</a>\n", lists[i].key, labels[i]);
	fputs("<a href=\"#differences-notes\">Notes</a></nav>\n", html->out);
}

static void put_side(const struct tpa_html *html, const char *name, const json_t *runs)
{
	fprintf(html->out, "<div><dt>%s</dt><dd>", name);
	for (size_t i = 0; i < json_array_size(runs); i++)
		tpa_html_print(html, i ? ", %s" : "%s", json_string_value(json_array_get(runs, i)));
	fputs("</dd></div>\n", html->out);
}

void tpa_html_diff(const struct tpa_html *html, const json_t *json, bool open)
{
	fputs("<section class=\"differences\" id=\"differences\">\n<h3>What changed</h3>\n<dl class=\"facts sides\">\n",
	      html->out);
	put_side(html, "old", json_object_get(json, "old_runs"));
	put_side(html, "new", json_object_get(json, "new_runs"));
	fputs("</dl>\n", html->out);
	put_table(html, "totals", totals, json_object_get(json, "totals"));
	if (json_is_object(json_object_get(json, "growth")))
		put_growth(html, json);
	for (size_t i = 0; i < LISTS; i++)
		if (json_object_get(json, lists[i].key))
			put_list(html, json, &lists[i], open || !i);
	put_notes(html, json, open);
	fputs("</section>\n", html->out);
}

void tpa_html_diff_page(const struct tpa_html *html, const json_t *json)
{
	static const char title[] = "What changed from one run to another";

	tpa_html_begin(html, title);
	tpa_html_element(html, "h1", NULL, "%s", title);
	put_contents(html, json);
	tpa_html_diff(html, json, true);
	tpa_html_foot(html, "tprof-analyze html --baseline OLD NEW draws flame graphs of the difference.");
	tpa_html_end(html);
}
