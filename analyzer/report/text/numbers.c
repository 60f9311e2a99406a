/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/numbers.h"

#include <stdio.h>

#include "model/stats/stats.h"

static struct tpa_text with_half(const struct tpa_numbers *numbers, struct tpa_text value, struct tpa_text half)
{
	return tpa_text_of("%.22s %s%.20s", value.text, numbers->page->utf8 ? "\xc2\xb1" : "+-", half.text);
}

static const struct tpa_text unknown = { "?" };

/* Uses the upper half of the interval, which is longer than the lower. */
static uint64_t half_of(uint64_t value, double variance, double unseen)
{
	return tpa_round(tpa_interval_estimate((double)value, variance, unseen).high - (double)value);
}

struct tpa_text tpa_some_bytes(const struct tpa_numbers *numbers, uint64_t bytes, double variance)
{
	bool exact = numbers->page->exact;
	double unseen = numbers->unseen.bytes;
	struct tpa_text text = tpa_bytes(bytes, exact);

	if (!tpa_numbers_estimated(numbers))
		return text;
	return with_half(numbers, text,
			 tpa_estimate_is_open(bytes) ? unknown : tpa_bytes(half_of(bytes, variance, unseen), exact));
}

struct tpa_text tpa_some_count(const struct tpa_numbers *numbers, uint64_t count, double variance)
{
	double unseen = numbers->unseen.blocks;
	struct tpa_text text = tpa_count(count);

	if (!tpa_numbers_estimated(numbers))
		return text;
	return with_half(numbers, text,
			 tpa_estimate_is_open(count) ? unknown : tpa_count(half_of(count, variance, unseen)));
}

struct tpa_text tpa_about(const struct tpa_numbers *numbers, struct tpa_text text)
{
	return tpa_numbers_estimated(numbers) ? tpa_text_of("~%s", text.text) : text;
}

struct tpa_text tpa_some_percent(const struct tpa_numbers *numbers, uint64_t part, uint64_t whole)
{
	struct tpa_text text = tpa_percent(part, whole);

	return whole ? tpa_about(numbers, text) : text;
}
