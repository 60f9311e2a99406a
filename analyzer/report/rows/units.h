/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people: bytes, counts, times, shares. */
#ifndef TPROF_REPORT_ROWS_UNITS_H
#define TPROF_REPORT_ROWS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* A text returned by value, so that tpa_bytes(...).text can be an argument of printf. */
struct tpa_text {
	char text[48];
};

/* Formats like printf; cut if it is too long. */
struct tpa_text tpa_text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 1536 -> "1.50 KiB": three significant digits, powers of 1024. `exact`: "1,536 B" */
struct tpa_text tpa_bytes(uint64_t bytes, bool exact);
/* Like tpa_bytes(), with a minus sign if negative */
struct tpa_text tpa_signed_bytes(int64_t bytes, bool exact);
/* 1234567 -> "1,234,567" */
struct tpa_text tpa_count(uint64_t count);
/* Plural ending of a noun after that number: "" or "s" */
const char *tpa_plural(uint64_t count);
/* `count` numbers from `first` on: (7, 1) -> "7", (7, 3) -> "7-9" */
struct tpa_text tpa_range_text(uint64_t first, uint64_t count);
/* nanoseconds -> "1.50 s", "12.3 ms", "2 min 05 s", "3 h 12 min" */
struct tpa_text tpa_time(uint64_t ns);
/* "12.3%"; "-" if `whole` is 0; "<0.1%" for a small share, so that only 0 is "0.0%" */
struct tpa_text tpa_percent(uint64_t part, uint64_t whole);
/* 0.123 -> "12.3%"; small shares as in tpa_percent() */
struct tpa_text tpa_share(double share);

#endif
