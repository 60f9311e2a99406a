/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in words: bytes, counts, times, shares. */
#ifndef TPROF_REPORT_ROWS_UNITS_H
#define TPROF_REPORT_ROWS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Text of a fixed size, to be used as an argument of printf: tpa_bytes(...).text */
struct tpa_text {
	char text[48];
};

/* The formatted text, cut where it is too long. */
struct tpa_text tpa_text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 1536 -> "1.5 KiB"; `exact`: "1,536 B". Three significant digits, powers of 1024. */
struct tpa_text tpa_bytes(uint64_t bytes, bool exact);
/* The same with a sign where it is less than 0. */
struct tpa_text tpa_signed_bytes(int64_t bytes, bool exact);
/* 1234567 -> "1,234,567" */
struct tpa_text tpa_count(uint64_t count);
/* What a noun has behind that number: "" or "s" */
const char *tpa_plural(uint64_t count);
/* "7", or "7-9": 3 from 7 on */
struct tpa_text tpa_range_text(uint64_t first, uint64_t count);
/* nanoseconds -> "1.50 s", "12.3 ms", "2 min 05 s", "3 h 12 min" */
struct tpa_text tpa_time(uint64_t ns);
/* "12.3%"; "-" if the whole is 0; "<0.1%" rather than a zero that isn't one */
struct tpa_text tpa_percent(uint64_t part, uint64_t whole);
/* 0.123 -> "12.3%" */
struct tpa_text tpa_share(double share);

#endif
