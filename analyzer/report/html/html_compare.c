/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side as a page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "machine/roofline.h"
#include "report/html/html_diff.h"
#include "report/html/html_table.h"
#include "report/json/json_value.h"

/* A table of ops: what of each op stands in the variants' columns. */
struct pivot {
	const char *path, *title, *value;
	enum tpa_html_kind kind;
	bool bounds; /* with what bounds the op */
};

/* The variants without numbers that are 0 because they are not known: of steps, of which there are none. */
static json_t *known(const json_t *variants)
{
	json_t *list = json_deep_copy(variants), *value;
	const char *key;
	void *next;

	for (size_t v = 0; v < json_array_size(list); v++)
		json_object_foreach_safe(json_array_get(list, v), next, key, value)
			if (json_is_number(value) && !(json_number_value(value) > 0))
				json_object_del(json_array_get(list, v), key);
	return list;
}

/* The row of an op, a new one at the end of the list if there is none. */
static json_t *row_of(json_t *rows, const char *name)
{
	json_t *row;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
			return row;
	}
	row = json_pack("{s:s}", "name", name);
	json_array_append_new(rows, row);
	return row;
}

/* Sets "compute, 67% of its roof" to stand below the value. */
static void put_bound(json_t *row, const char *key, const json_t *op)
{
	const char *bound = json_string_value(json_object_get(op, "bound"));
	char name[32], text[80];
	double fraction;

	if (!bound)
		return;
	snprintf(name, sizeof(name), "%s_note", key);
	fraction = json_number_value(json_object_get(op, "roof_fraction"));
	if (fraction < TPA_ROOF_LEAST)
		snprintf(text, sizeof(text), "no roof explains it (%.0f%%)", 100 * fraction);
	else
		snprintf(text, sizeof(text), "%.40s, %.0f%% of its roof", bound, 100 * fraction);
	tpa_json_set(row, name, json_string(text));
}

static double most_of(const json_t *row, size_t variants)
{
	double most = 0;
	char key[24];

	for (size_t v = 0; v < variants; v++) {
		snprintf(key, sizeof(key), "v%zu", v);
		most = fmax(most, json_number_value(json_object_get(row, key)));
	}
	return most;
}

struct ranked {
	json_t *row;
	double most;
};

static int by_most(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return TPA_DOWN(a->most, b->most);
}

/* Those with the largest value in any variant come first. Drops the reference to `rows`. */
static json_t *ranked(json_t *rows, size_t variants)
{
	size_t count = json_array_size(rows);
	struct ranked *list = tpa_zalloc(count, sizeof(*list));
	json_t *sorted = json_array();

	for (size_t i = 0; i < count; i++)
		list[i] = (struct ranked){ json_array_get(rows, i), most_of(json_array_get(rows, i), variants) };
	qsort(list, count, sizeof(*list), by_most);
	for (size_t i = 0; i < count; i++)
		json_array_append(sorted, list[i].row);
	free(list);
	json_decref(rows);
	return sorted;
}

static json_t *pivoted(const json_t *variants, const struct pivot *pivot)
{
	json_t *rows = json_array();
	char key[24];

	for (size_t v = 0; v < json_array_size(variants); v++) {
		const json_t *ops = json_object_get(json_array_get(variants, v), "ops");

		snprintf(key, sizeof(key), "v%zu", v);
		for (size_t i = 0; i < json_array_size(ops); i++) {
			const json_t *op = json_array_get(ops, i);
			const char *name = json_string_value(json_object_get(op, "name"));
			json_t *row;

			if (!name || !(json_number_value(json_object_get(op, pivot->value)) > 0))
				continue;
			row = row_of(rows, name);
			json_object_set(row, key, json_object_get(op, pivot->value));
			if (pivot->bounds)
				put_bound(row, key, op);
		}
	}
	return ranked(rows, json_array_size(variants));
}

static void put_pivot(const struct tpa_html *html, const json_t *variants, const struct pivot *pivot)
{
	size_t count = json_array_size(variants);
	struct tpa_html_column *columns = tpa_zalloc(count + 2, sizeof(*columns));
	char(*keys)[24] = tpa_zalloc(count, sizeof(*keys));
	const struct tpa_html_table table = { .path = pivot->path, .columns = columns };
	json_t *rows = pivoted(variants, pivot);

	columns[0] = (struct tpa_html_column){ "op", "name", TPA_HTML_CODE, NULL };
	for (size_t v = 0; v < count; v++) {
		snprintf(keys[v], sizeof(keys[v]), "v%zu", v);
		columns[v + 1] = (struct tpa_html_column){ json_string_value(json_object_get(
								   json_array_get(variants, v), "label")),
							   keys[v], pivot->kind, NULL };
	}
	if (json_array_size(rows))
		tpa_html_element(html, "h3", NULL, "%s", pivot->title);
	tpa_html_table(html, &table, rows);
	json_decref(rows);
	free(keys);
	free(columns);
}

void tpa_html_compare_page(const struct tpa_html *html, const json_t *json)
{
	static const char title[] = "Programs side by side";
	static const struct pivot pivots[] = {
		{ "ops", "Share of the time in ops", "share", TPA_HTML_SHARE, true },
		{ "calls", "Calls of the ops", "calls", TPA_HTML_COUNT, false },
		{ "peaks", "Memory at the peak, by the op that allocated it", "peak_bytes", TPA_HTML_BYTES, false },
	};
	const json_t *variants = json_object_get(json, "variants");
	json_t *list = known(variants);
	static const struct tpa_html_column columns[] = {
		{ "program", "label", TPA_HTML_CODE, "its trace, or the program and what its arguments differ in" },
		{ "runs", "runs", TPA_HTML_COUNT, "of the same program with the same arguments, pooled" },
		{ "parameters", "parameters", TPA_HTML_COUNT, NULL },
		{ "step", "step_ns", TPA_HTML_TIME, "mean" },
		{ "95% interval", "step_ci95_ns", TPA_HTML_TIME, "of the mean step" },
		{ "items a step", "items_per_step", TPA_HTML_REAL, NULL },
		{ "FLOP a step", "flop_per_step", TPA_HTML_REAL, NULL },
		{ "GFLOP/s", "gflops", TPA_HTML_REAL, NULL },
		{ "of what the cores can do", "utilisation", TPA_HTML_SHARE, NULL },
		{ "memory at the peak", "peak_bytes", TPA_HTML_BYTES, NULL },
		{ "RSS at most", "rss_peak", TPA_HTML_BYTES, NULL },
		TPA_HTML_END,
	};
	const struct tpa_html_table table = { .path = "variants", .columns = columns, .known = true };

	tpa_html_begin(html, title);
	tpa_html_element(html, "h1", NULL, "%s", title);
	fputs("<section id=\"compared\">\n", html->out);
	tpa_html_table(html, &table, list);
	json_decref(list);
	for (size_t i = 0; i < sizeof(pivots) / sizeof(pivots[0]); i++)
		put_pivot(html, variants, &pivots[i]);
	fputs("</section>\n", html->out);
	tpa_html_foot(html,
		      "Repeated runs of one program are pooled. tprof-analyze diff OLD NEW says what changed, and how "
		      "much of it is noise.");
	tpa_html_end(html);
}
