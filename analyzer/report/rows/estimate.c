/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/stats/stats.h"

/*
 * Of what no sample met nothing tells how much there is: the variance, which is of samples, would say that there is surely
 * none.
 */
static bool is_open(uint64_t value)
{
	return value == 0;
}

static struct tp_text with_half(const struct tp_numbers *numbers, struct tp_text value, struct tp_text half)
{
	struct tp_text text;

	snprintf(text.text, sizeof(text.text), "%.22s %s%.20s", value.text, numbers->page->utf8 ? "\xc2\xb1" : "+-",
		 half.text);
	return text;
}

static const struct tp_text unknown = { "?" };

/* The interval reaches further up than down. */
static uint64_t half_of(uint64_t value, double variance, double unseen)
{
	return tp_round(tp_interval_estimate((double)value, variance, unseen).high - (double)value);
}

struct tp_text tp_some_bytes(const struct tp_numbers *numbers, uint64_t bytes, double variance)
{
	bool exact = numbers->page->exact;
	double unseen = numbers->unseen.bytes;
	struct tp_text text = tp_bytes(bytes, exact);

	if (!tp_numbers_estimated(numbers))
		return text;
	return with_half(numbers, text, is_open(bytes) ? unknown : tp_bytes(half_of(bytes, variance, unseen), exact));
}

struct tp_text tp_some_count(const struct tp_numbers *numbers, uint64_t count, double variance)
{
	double unseen = numbers->unseen.blocks;
	struct tp_text text = tp_count(count);

	if (!tp_numbers_estimated(numbers))
		return text;
	return with_half(numbers, text, is_open(count) ? unknown : tp_count(half_of(count, variance, unseen)));
}

struct tp_text tp_about(const struct tp_numbers *numbers, struct tp_text text)
{
	struct tp_text marked;

	if (!tp_numbers_estimated(numbers))
		return text;
	snprintf(marked.text, sizeof(marked.text), "~%.40s", text.text);
	return marked;
}

struct tp_text tp_some_percent(const struct tp_numbers *numbers, uint64_t part, uint64_t whole)
{
	struct tp_text text = tp_percent(part, whole);

	return whole ? tp_about(numbers, text) : text;
}

static json_t *integer(double value)
{
	uint64_t number = tp_round(value);

	return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number);
}

void tp_json_some(json_t *json, const char *key, uint64_t value, double variance, double unseen)
{
	struct tp_interval interval = tp_interval_estimate((double)value, variance, unseen);
	char name[64];

	json_object_set_new(json, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
	if (!(unseen > 0))
		return;
	snprintf(name, sizeof(name), "%s_ci95", key);
	json_object_set_new(
		json, name,
		json_pack("[o, o]", integer(interval.low), is_open(value) ? json_null() : integer(interval.high)));
}

bool tp_run_estimated(const struct tp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].estimated)
			return true;
	return false;
}

struct tp_unseen tp_unseen_larger(struct tp_unseen a, struct tp_unseen b)
{
	return (struct tp_unseen){ fmax(a.bytes, b.bytes), fmax(a.blocks, b.blocks) };
}

struct tp_unseen tp_run_unseen(const struct tp_run *run)
{
	struct tp_unseen unseen = { 0, 0 };

	for (size_t i = 0; i < run->process_count; i++)
		unseen = tp_unseen_larger(unseen, run->processes[i].unseen);
	return unseen;
}

double tp_sums_bytes_variance(const struct tp_sums *sums, enum tp_what what)
{
	const struct tp_variance *variance = &sums->variance;

	return what == TP_WHAT_PEAK	 ? variance->peak_bytes
	       : what == TP_WHAT_UNFREED ? variance->live_bytes
					 : variance->bytes;
}

double tp_sums_blocks_variance(const struct tp_sums *sums, enum tp_what what)
{
	const struct tp_variance *variance = &sums->variance;

	return what == TP_WHAT_PEAK	 ? variance->peak_blocks
	       : what == TP_WHAT_UNFREED ? variance->live_blocks
					 : variance->allocations;
}
