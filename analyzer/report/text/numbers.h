/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats heap numbers: exact ones plainly, estimates with their 95% interval. All sampled numbers must be printed by
 * these functions.
 */
#ifndef TPROF_REPORT_TEXT_NUMBERS_H
#define TPROF_REPORT_TEXT_NUMBERS_H

#include "report/rows/estimate.h"
#include "report/rows/rows.h"
#include "report/text/text.h"

/* How to format numbers on a page. */
struct tpa_numbers {
	const struct tpa_page *page;
	struct tpa_unseen unseen; /* all zero for exact numbers */
};

static inline bool tpa_numbers_estimated(const struct tpa_numbers *numbers)
{
	return numbers->unseen.bytes > 0;
}

/* "1.2 MiB" or "1.2 MiB ±0.3 MiB"; "1,234" or "1,234 ±56"; "0 ±?" if no sample hit it. */
struct tpa_text tpa_some_bytes(const struct tpa_numbers *numbers, uint64_t bytes, double variance);
struct tpa_text tpa_some_count(const struct tpa_numbers *numbers, uint64_t count, double variance);
/* "12.3%" or "~12.3%" */
struct tpa_text tpa_some_percent(const struct tpa_numbers *numbers, uint64_t part, uint64_t whole);

/* "1.2 MiB" or "~1.2 MiB", for cells without room for the interval. */
struct tpa_text tpa_about(const struct tpa_numbers *numbers, struct tpa_text text);

#endif
