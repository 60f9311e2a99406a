/* SPDX-License-Identifier: Apache-2.0 */
#include "report/step_listing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/op_listing.h"

static int64_t growth(const struct tp_step *step)
{
	return (int64_t)(step->end_bytes - step->begin_bytes);
}

/* Of one step, where several were put together. */
static uint64_t time_of(const struct tp_step *step)
{
	return step->steps ? (step->end_ns - step->begin_ns) / step->steps : 0;
}

/* ---- text ---- */

void tp_steps_print_line(const struct tp_page *page, const struct tp_step_stats *steps)
{
	struct tp_interval interval = tp_moments_interval(&steps->durations);

	tp_print(page, TP_STYLE_NUMBER, "%s step%s", tp_count(steps->count).text, steps->count == 1 ? "" : "s");
	if (steps->durations.count) {
		fprintf(page->out, " of %s", tp_time(tp_round(steps->durations.mean)).text);
		if (!isnan(interval.low))
			fprintf(page->out, " (mean; 95%% interval %s to %s)", tp_time(tp_round(interval.low)).text,
				tp_time(tp_round(interval.high)).text);
		fprintf(page->out, ", p50 %s, p99 %s", tp_time(steps->p50_ns).text, tp_time(steps->p99_ns).text);
	}
	fprintf(page->out, "; the first took %s, with the program's start", tp_time(steps->first_ns).text);
	fputc('\n', page->out);
}

static double sort_number(const struct tp_step *step, const char *sort)
{
	switch (sort[0]) {
	case 'h':
		return (double)step->high_bytes;
	case 'g':
		return (double)growth(step);
	case 's':
		return -(double)step->first;
	default:
		return (double)time_of(step);
	}
}

static int compare(const void *left, const void *right, void *context)
{
	const struct tp_step *a = *(const struct tp_step *const *)left, *b = *(const struct tp_step *const *)right;
	double x = sort_number(a, context), y = sort_number(b, context);

	if (x != y)
		return x > y ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static void add_row(struct tp_table *table, const struct tp_page *page, const struct tp_step *step)
{
	int64_t grown = growth(step);
	char text[64];

	snprintf(text, sizeof(text), "%s%.40s", grown < 0 ? "-" : "",
		 tp_bytes(grown < 0 ? 0 - (uint64_t)grown : (uint64_t)grown, page->exact).text);
	tp_table_add(table, TP_STYLE_NUMBER, tp_time(time_of(step)).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_bytes(step->high_bytes, page->exact).text);
	tp_table_add(table, TP_STYLE_PLAIN, text);
	tp_table_add(table, TP_STYLE_PLAIN, step->items ? tp_count(step->items).text : "-");
	tp_table_add(table, TP_STYLE_PLAIN, tp_time(step->begin_ns).text);
	if (step->steps > 1)
		snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, step->first, step->first + step->steps - 1);
	else
		snprintf(text, sizeof(text), "%" PRIu64, step->first);
	tp_table_add(table, TP_STYLE_FUNCTION, text);
}

void tp_steps_print(const struct tp_page *page, const struct tp_step_stats *steps, const char *sort, uint64_t top)
{
	size_t count = top && top < steps->list_count ? (size_t)top : steps->list_count;
	const struct tp_step **order = calloc(steps->list_count + 1, sizeof(*order));
	struct tp_table *table = tp_table_new(">time|>most live|>net growth|>items|>begins at|>step");
	char key[16];

	for (size_t i = 0; order && i < steps->list_count; i++)
		order[i] = &steps->list[i];
	snprintf(key, sizeof(key), "%s", sort);
	if (order && steps->list_count)
		qsort_r(order, steps->list_count, sizeof(*order), compare, key);
	for (size_t i = 0; order && table && i < count; i++)
		add_row(table, page, order[i]);
	if (table)
		tp_table_print(table, page, 2);
	if (count < steps->list_count)
		tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
			 tp_count(steps->list_count - count).text);
	tp_table_free(table);
	free(order);
}

/* ---- JSON ---- */

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *json_list(const struct tp_step_stats *steps)
{
	json_t *list = json_array();

	for (size_t i = 0; i < steps->list_count; i++) {
		const struct tp_step *step = &steps->list[i];

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "step",
						      number(step->first), "steps", number(step->steps), "begin_ns",
						      number(step->begin_ns), "time_ns", number(time_of(step)),
						      "high_bytes", number(step->high_bytes), "net_bytes",
						      (json_int_t)growth(step), "items", number(step->items)));
	}
	return list;
}

/* Numbers of steps that there were none of are null. */
json_t *tp_steps_json(const struct tp_step_stats *steps, bool list)
{
	const struct tp_moments *durations = &steps->durations;
	const struct {
		const char *key;
		uint64_t value;
	} times[] = { { "mean_ns", tp_round(durations->mean) },
		      { "stddev_ns", tp_round(tp_moments_deviation(durations)) },
		      { "min_ns", steps->min_ns },
		      { "p50_ns", steps->p50_ns },
		      { "p99_ns", steps->p99_ns },
		      { "max_ns", steps->max_ns } };
	json_t *json = json_object();

	json_object_set_new(json, "count", number(steps->count));
	json_object_set_new(json, "items", number(steps->items));
	json_object_set_new(json, "first_ns", steps->count ? number(steps->first_ns) : json_null());
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		json_object_set_new(json, times[i].key, durations->count ? number(times[i].value) : json_null());
	json_object_set_new(json, "ci95_ns", tp_json_interval(tp_moments_interval(durations)));
	json_object_set_new(json, "growth", json_array());
	if (list)
		json_object_set_new(json, "list", json_list(steps));
	return json;
}
