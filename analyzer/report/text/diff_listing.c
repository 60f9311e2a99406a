/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/diff_listing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/stats/stats.h"
#include "report/text/name.h"

#define LINES_MAX 12	 /* the most lines of a stack */
#define NOTE_COLUMNS 130 /* of a line of the explanations */
#define LINES_TAIL 2	 /* how many of these are from the outer end of the stack */

enum form { FORM_TEXT, FORM_BYTES, FORM_COUNT, FORM_TIME, FORM_SHARE, FORM_RATIO, FORM_RANGE, FORM_RATE, FORM_P };

struct column {
	const char *key;
	enum form form;
};

/* ---- cells ---- */

static const char *text_of(const json_t *json, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : otherwise;
}

/* "1.020 to 1.080", or "1.020 or more" if one end is unknown. */
static struct tpa_text range_text(const json_t *range)
{
	const json_t *low = json_array_get(range, 0), *high = json_array_get(range, 1);
	double from = json_number_value(low), to = json_number_value(high);

	if (json_is_number(low) && json_is_number(high))
		return tpa_text_of("%.3f to %.3f", from, to);
	if (json_is_number(low))
		return tpa_text_of("%.3f or more", from);
	return tpa_text_of(json_is_number(high) ? "%.3f or less" : "-", to);
}

static struct tpa_text number_text(const struct tpa_page *page, const json_t *json, enum form form)
{
	double value = json_number_value(json);

	if (form == FORM_RANGE)
		return range_text(json);
	if (!json_is_number(json))
		return (struct tpa_text){ "-" };
	switch (form) {
	case FORM_BYTES:
		return tpa_bytes(tpa_round(value), page->exact);
	case FORM_COUNT:
		return tpa_count(tpa_round(value));
	case FORM_TIME:
		return tpa_time(tpa_round(value));
	case FORM_RATE:
		return tpa_signed_bytes(llround(value), page->exact);
	case FORM_SHARE:
		return tpa_text_of("%.1f%%", 100 * value);
	default:
		return tpa_text_of(form == FORM_P ? "%.2g" : "%.3fx", value);
	}
}

/* "~1.2 MiB" for an estimate. */
static struct tpa_text value_text(const struct tpa_page *page, const json_t *row, const struct column *column)
{
	struct tpa_text text = number_text(page, json_object_get(row, column->key), column->form);
	char key[64];

	snprintf(key, sizeof(key), "%s_ci95", column->key);
	if (!json_is_array(json_object_get(row, key)) || column->form == FORM_RATIO)
		return text;
	return tpa_text_of("~%s", text.text);
}

/* "too few runs to tell: 3 more would" */
static struct tpa_text too_few_text(const json_t *row)
{
	uint64_t more = (uint64_t)json_integer_value(json_object_get(row, "more_runs"));
	struct tpa_text text = { "too few runs to tell" };

	if (more)
		snprintf(text.text, sizeof(text.text), "too few runs to tell: %.9s more would", tpa_count(more).text);
	return text;
}

struct tpa_text tpa_diff_verdict(const json_t *row)
{
	const char *verdict = text_of(row, "verdict", "-");
	bool sampled = json_object_get(row, "change_ci95") != NULL;
	struct tpa_text text;

	if (strcmp(verdict, "too few runs") == 0 || strcmp(verdict, "one run") == 0)
		return too_few_text(row);
	snprintf(text.text, sizeof(text.text), "%s",
		 sampled && strcmp(verdict, "noise") == 0 ? "could be chance" : verdict);
	return text;
}

static void cell(struct tpa_table *table, const struct tpa_page *page, const json_t *row, const struct column *column)
{
	const json_t *json = json_object_get(row, column->key);
	char name[400];

	if (strcmp(column->key, "verdict") == 0)
		tpa_table_add(table, TPA_STYLE_PLAIN, tpa_diff_verdict(row).text);
	else if (column->form != FORM_TEXT)
		tpa_cell(table, TPA_STYLE_NUMBER, value_text(page, row, column));
	else
		tpa_table_add(table, TPA_STYLE_PLAIN,
			      tpa_short_name(page, json_is_string(json) ? json_string_value(json) : "-", 60, name,
					     sizeof(name)));
}

static void list(const struct tpa_page *page, const json_t *rows, const char *titles, const struct column *columns,
		 size_t count)
{
	struct tpa_table *table = tpa_table_new(titles);
	json_t *row;
	size_t i;

	if (!json_array_size(rows))
		fputs("  nothing differs\n", page->out);
	json_array_foreach(rows, i, row)
		for (size_t c = 0; c < count; c++)
			cell(table, page, row, &columns[c]);
	if (json_array_size(rows))
		tpa_table_end(table, page);
	else
		tpa_table_free(table);
}
#define LIST(page, rows, titles, columns) list(page, rows, titles, columns, sizeof(columns) / sizeof((columns)[0]))

static json_int_t rows_of(const json_t *count)
{
	return json_integer_value(json_object_get(count, "rows"));
}

void tpa_diff_left_out_print(const struct tpa_page *page, const json_t *json, const char *key)
{
	static const struct {
		const char *what, *words;
	} others[] = {
		{ "same", "the same" },
		{ "alike", "nearly the same (within 0.05% of their own size, or 0.1% of all)" },
		{ "noise", "that could be chance (noise)" },
		{ "too few runs", "with too few runs to tell" },
		{ "too few", "with too few calls or samples to tell" },
		{ "as others", "that changed as the other ops did" },
		{ "not tested", "too small to be tested" },
		{ "drifts", "that drift" },
	};
	const json_t *counts = json_object_get(json_object_get(json, "counts"), key);
	json_int_t left = -(json_int_t)json_array_size(json_object_get(json, key));
	const char *between = "  not listed: ";

	for (size_t i = 0; i < json_array_size(counts); i++)
		left += rows_of(json_array_get(counts, i));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		json_int_t those = 0;

		for (size_t c = 0; c < json_array_size(counts); c++)
			if (strcmp(text_of(json_array_get(counts, c), "verdict", ""), others[i].what) == 0)
				those = rows_of(json_array_get(counts, c));
		if (!those)
			continue;
		tpa_print(page, TPA_STYLE_DIM, "%s%s %s", between, tpa_count((uint64_t)those).text, others[i].words);
		between = ", ";
		left -= those;
	}
	if (left > 0)
		tpa_print(page, TPA_STYLE_DIM, "%s%s more that differ%s (--top)", between,
			  tpa_count((uint64_t)left).text, left == 1 ? "s" : "");
	if (left > 0 || between[0] == ',')
		fputc('\n', page->out);
}

/* ---- stacks ---- */

static void print_stack(const struct tpa_page *page, const json_t *stack)
{
	size_t count = json_array_size(stack), hidden = count > LINES_MAX ? count - LINES_MAX : 0, i;
	const json_t *frame;
	char name[400];

	json_array_foreach(stack, i, frame) {
		if (hidden && i >= LINES_MAX - LINES_TAIL && i < count - LINES_TAIL) {
			if (i == LINES_MAX - LINES_TAIL)
				tpa_print(page, TPA_STYLE_DIM, "        %s %zu more\n",
					  page->utf8 ? "\xe2\x8b\xae" : "...", hidden);
			continue;
		}
		fprintf(page->out, "        %s",
			tpa_short_name(page, text_of(frame, "function", "(no name)"), 60, name, sizeof(name)));
		tpa_print(page, TPA_STYLE_DIM, "  %s\n", text_of(frame, "module", ""));
	}
}

/* "   1. 5.00 MiB, was 4.00 MiB: 1.250x (1.100 to 1.400), p 0.003, more" */
static void print_row(const struct tpa_page *page, const json_t *row, size_t number, const struct column *columns)
{
	const json_t *ratio = json_object_get(row, "ratio"), *range = json_object_get(row, "ratio_ci95");
	const json_t *p = json_object_get(row, "p_corrected");

	fprintf(page->out, "%4zu. ", number);
	tpa_print(page, TPA_STYLE_NUMBER, "%s", value_text(page, row, &columns[1]).text);
	fprintf(page->out, ", was %s", value_text(page, row, &columns[0]).text);
	if (json_is_number(ratio))
		fprintf(page->out, ": %s", number_text(page, ratio, FORM_RATIO).text);
	if (json_is_array(range))
		fprintf(page->out, " (%s)", range_text(range).text);
	if (json_is_number(p))
		fprintf(page->out, ", p %s", number_text(page, p, FORM_P).text);
	fprintf(page->out, ", %s\n", tpa_diff_verdict(row).text);
	print_stack(page, json_object_get(row, "stack"));
}

static void print_stacks(const struct tpa_page *page, const json_t *rows, const struct column *columns)
{
	const json_t *row;
	size_t i;

	if (!json_array_size(rows))
		fputs("  nothing differs\n", page->out);
	json_array_foreach(rows, i, row) {
		if (i)
			fputc('\n', page->out);
		print_row(page, row, i + 1, columns);
	}
}

static void memory(const struct tpa_page *page, const json_t *json, const char *key, const char *headline)
{
	static const struct column columns[] = { { "old_bytes", FORM_BYTES }, { "new_bytes", FORM_BYTES },
						 { "ratio", FORM_RATIO },     { "ratio_ci95", FORM_RANGE },
						 { "p_corrected", FORM_P },   { "verdict", FORM_TEXT },
						 { "name", FORM_TEXT } };
	const json_t *rows = json_object_get(json, key);

	tpa_headline(page, "%s, where it differs", headline);
	if (!json_is_true(json_object_get(json, "heap_known")))
		fputs("  not known: a side did not record it\n", page->out);
	else if (json_object_get(json, "cpu_stacks"))
		print_stacks(page, rows, columns);
	else
		LIST(page, rows, ">old|>new|>new / old|>95%|>p|is|where", columns);
	tpa_diff_left_out_print(page, json, key);
}

/* ---- sections ---- */

static bool has_runs(const json_t *json)
{
	return json_array_size(json_object_get(json, "old_runs")) > 1 ||
	       json_array_size(json_object_get(json, "new_runs")) > 1;
}

static void print_totals(const struct tpa_page *page, const json_t *json)
{
	struct tpa_table *table = tpa_table_new(has_runs(json) ? "total, mean|>old|>new|>new / old|>95%|>p|is"
							       : "total|>old|>new|>new / old|>95%|>p|is");
	const json_t *rows = json_object_get(json, "totals");
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		enum form form = strcmp(text_of(row, "unit", ""), "bytes") == 0 ? FORM_BYTES : FORM_COUNT;
		const struct column columns[] = { { "name", FORM_TEXT },
						  { "old", form },
						  { "new", form },
						  { "ratio", FORM_RATIO },
						  { "ratio_ci95", FORM_RANGE },
						  { "p_corrected", FORM_P },
						  { "verdict", FORM_TEXT } };

		for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++)
			cell(table, page, row, &columns[c]);
	}
	tpa_table_end(table, page);
}

const char *tpa_diff_growth_title(const json_t *json)
{
	const json_t *growth = json_object_get(json, "growth");

	return strcmp(text_of(growth, "unit", ""), "bytes/s") == 0 ? "Growth a second" : "Growth a step";
}

void tpa_diff_growth_print(const struct tpa_page *page, const json_t *json)
{
	const json_t *growth = json_object_get(json, "growth"), *range = json_object_get(growth, "change_ci95");

	fprintf(page->out, "  live bytes: %s, was %s",
		number_text(page, json_object_get(growth, "new"), FORM_RATE).text,
		number_text(page, json_object_get(growth, "old"), FORM_RATE).text);
	if (json_is_array(range)) {
		fprintf(page->out, "; the difference is %s",
			number_text(page, json_array_get(range, 0), FORM_RATE).text);
		fprintf(page->out, " to %s", number_text(page, json_array_get(range, 1), FORM_RATE).text);
	}
	fprintf(page->out, ": %s\n", tpa_diff_verdict(growth).text);
}

static void print_growth(const struct tpa_page *page, const json_t *json)
{
	static const struct column rates[] = { { "old_rate", FORM_RATE },
					       { "new_rate", FORM_RATE },
					       { "p_corrected", FORM_P },
					       { "verdict", FORM_TEXT },
					       { "name", FORM_TEXT } };
	const json_t *rows = json_object_get(json, "leaks");

	if (!json_is_object(json_object_get(json, "growth")))
		return;
	tpa_headline(page, "%s", tpa_diff_growth_title(json));
	tpa_diff_growth_print(page, json);
	if (!json_array_size(rows))
		return;
	if (json_object_get(json, "cpu_stacks"))
		print_stacks(page, rows, rates);
	else
		LIST(page, rows, ">old|>new|>p|is|where", rates);
	tpa_diff_left_out_print(page, json, "leaks");
}

static void print_times(const struct tpa_page *page, const json_t *json)
{
	static const struct column times[] = { { "name", FORM_TEXT },	       { "old_p50_ns", FORM_TIME },
					       { "new_p50_ns", FORM_TIME },    { "speedup", FORM_RATIO },
					       { "speedup_ci95", FORM_RANGE }, { "p_corrected", FORM_P },
					       { "verdict", FORM_TEXT } };
	static const struct column ops[] = { { "name", FORM_TEXT },	     { "old_calls", FORM_COUNT },
					     { "new_calls", FORM_COUNT },    { "old_p50_ns", FORM_TIME },
					     { "new_p50_ns", FORM_TIME },    { "speedup", FORM_RATIO },
					     { "speedup_ci95", FORM_RANGE }, { "p_corrected", FORM_P },
					     { "verdict", FORM_TEXT } };
	bool runs = has_runs(json);
	const char *test = runs ? "Welch's test between the runs" : "the rank test over batches of calls";

	tpa_headline(page, "Times, median; speed-up with its 95%% interval; p by %s (Holm)", test);
	LIST(page, json_object_get(json, "times"), "time|>old|>new|>speed-up|>95%|>p|is", times);
	tpa_headline(page, "Ops: time of a call, median; p by %s (Holm)", test);
	LIST(page, json_object_get(json, "ops"),
	     runs ? "op|>calls of all old|>of all new|>old|>new|>speed-up|>95%|>p|is"
		  : "op|>old calls|>new calls|>old|>new|>speed-up|>95%|>p|is",
	     ops);
	tpa_diff_left_out_print(page, json, "ops");
}

static void print_cpu(const struct tpa_page *page, const json_t *json)
{
	static const struct column cpu[] = { { "name", FORM_TEXT },
					     { "old_share", FORM_SHARE },
					     { "new_share", FORM_SHARE },
					     { "p_corrected", FORM_P },
					     { "verdict", FORM_TEXT } };

	tpa_headline(page, "CPU: share of the samples");
	if (!json_is_true(json_object_get(json, "cpu_known"))) {
		fputs("  not known: a side has no samples\n", page->out);
		return;
	}
	LIST(page, json_object_get(json, "cpu"), "where|>old|>new|>p|is", cpu);
	tpa_diff_left_out_print(page, json, "cpu");
	if (!json_array_size(json_object_get(json_object_get(json, "counts"), "cpu_stacks")))
		return;
	tpa_headline(page, "CPU by stack");
	print_stacks(page, json_object_get(json, "cpu_stacks"), cpu + 1);
	tpa_diff_left_out_print(page, json, "cpu_stacks");
}

static void print_sides(const struct tpa_page *page, const json_t *json)
{
	static const char *const keys[] = { "old", "new" };
	static const char *const lists[] = { "old_runs", "new_runs" };

	for (int side = 0; side < 2; side++) {
		size_t runs = json_array_size(json_object_get(json, lists[side]));

		fprintf(page->out, "%s: %s", keys[side], text_of(json, keys[side], "?"));
		if (runs > 1)
			fprintf(page->out, " and %zu more run%s", runs - 1, runs == 2 ? "" : "s");
		fputc('\n', page->out);
	}
	fputc('\n', page->out);
}

/* Whether a side was sampled: then the totals have intervals. */
static bool is_sampled(const json_t *json)
{
	return json_object_get(json_array_get(json_object_get(json, "totals"), 0), "change_ci95") != NULL;
}

size_t tpa_diff_explain(const json_t *json, const char *texts[TPA_DIFF_EXPLANATIONS])
{
	bool one = !has_runs(json), sampled = is_sampled(json);
	size_t count = 0;

	texts[count++] = "p is corrected for the rows of its table. Noise: no difference of 5% or more. Different: the "
			 "interval leaves out 1; among so many rows some do by chance.";
	texts[count++] =
		one ? "N more runs on each side would tell a difference of this size, but at least 5%, in four of "
		      "five cases; with one run a side it is the least number, because how runs differ is not "
		      "known."
		    : "N more runs on each side would tell a difference of this size, but at least 5%, in four of "
		      "five cases.";
	if (sampled)
		texts[count++] =
			"Allocations were sampled: sizes are estimates (~). Could be chance: the samples of two "
			"equal runs may differ as much. The peak is the highest estimate: if two moments are "
			"almost as high, the samples may choose different ones.";
	if (one)
		texts[count++] =
			"One run a side: an op is faster or slower if its calls differ, and by more than the ops "
			"differ among themselves.";
	if (one && !sampled)
		texts[count++] =
			"Memory is compared as counted: different, whether or not two runs of one program differ "
			"as much.";
	if (one)
		texts[count++] =
			"Several runs a side show what differs from run to run: diff --baseline OLD --baseline "
			"OLD... NEW NEW NEW...";
	return count;
}

/* Indented, a paragraph in as many lines as it takes. */
static void print_paragraph(const struct tpa_page *page, const char *text)
{
	while (strlen(text) > NOTE_COLUMNS) {
		size_t length = NOTE_COLUMNS;

		while (text[length] != ' ')
			length--;
		tpa_print(page, TPA_STYLE_DIM, "  %.*s\n", (int)length, text);
		text += length + 1;
	}
	tpa_print(page, TPA_STYLE_DIM, "  %s\n", text);
}

static void print_notes(const struct tpa_page *page, const json_t *json)
{
	const json_t *notes = json_object_get(json, "notes");
	const char *texts[TPA_DIFF_EXPLANATIONS];
	size_t count = tpa_diff_explain(json, texts);

	for (size_t i = 0; i < json_array_size(notes); i++)
		tpa_print(page, TPA_STYLE_WARN, "%snote: %s\n", i ? "" : "\n",
			  json_string_value(json_array_get(notes, i)));
	fputc('\n', page->out);
	for (size_t i = 0; i < count; i++)
		print_paragraph(page, texts[i]);
}

void tpa_diff_print(const struct tpa_page *page, const json_t *json)
{
	print_sides(page, json);
	print_totals(page, json);
	print_growth(page, json);
	print_times(page, json);
	print_cpu(page, json);
	memory(page, json, "peak", "Memory at the peak");
	memory(page, json, "unfreed", "Unfreed memory");
	memory(page, json, "allocated", "Allocated");
	print_notes(page, json);
}
