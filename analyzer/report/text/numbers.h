/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the heap, printed: exact ones as they are, estimated ones with their 95% interval. Nothing that was sampled
 * is printed by other means than these.
 */
#ifndef TPROF_REPORT_TEXT_NUMBERS_H
#define TPROF_REPORT_TEXT_NUMBERS_H

#include "report/rows/estimate.h"
#include "report/rows/rows.h"
#include "report/text/text.h"

/* How numbers look on a page. */
struct tp_numbers {
	const struct tp_page *page;
	struct tp_unseen unseen; /* zeros: they are exact */
};

static inline bool tp_numbers_estimated(const struct tp_numbers *numbers)
{
	return numbers->unseen.bytes > 0;
}

/* "1.2 MiB", or "1.2 MiB ±0.3 MiB"; "1,234", or "1,234 ±56"; of what no sample met "0 ±?". */
struct tp_text tp_some_bytes(const struct tp_numbers *numbers, uint64_t bytes, double variance);
struct tp_text tp_some_count(const struct tp_numbers *numbers, uint64_t count, double variance);
/* "12.3%", or "~12.3%" */
struct tp_text tp_some_percent(const struct tp_numbers *numbers, uint64_t part, uint64_t whole);

/* "1.2 MiB", or "~1.2 MiB": where there is no room for the interval. */
struct tp_text tp_about(const struct tp_numbers *numbers, struct tp_text text);

#endif
