/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/numbers.h"

#include <stdio.h>

#include "model/stats/stats.h"

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
	return with_half(numbers, text,
			 tp_estimate_is_open(bytes) ? unknown : tp_bytes(half_of(bytes, variance, unseen), exact));
}

struct tp_text tp_some_count(const struct tp_numbers *numbers, uint64_t count, double variance)
{
	double unseen = numbers->unseen.blocks;
	struct tp_text text = tp_count(count);

	if (!tp_numbers_estimated(numbers))
		return text;
	return with_half(numbers, text,
			 tp_estimate_is_open(count) ? unknown : tp_count(half_of(count, variance, unseen)));
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
