/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct tpa_text tpa_count(uint64_t count)
{
	struct tpa_text text = { "" };
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *p = text.text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	return text;
}

const char *tpa_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

struct tpa_text tpa_bytes(uint64_t bytes, bool exact)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct tpa_text text = tpa_count(bytes);
	double value = (double)bytes;
	size_t unit = 0;

	if (exact || bytes < 1024) {
		strcat(text.text, " B");
		return text;
	}
	/* 999.5 would be printed with four digits: it is the next unit's business. */
	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text.text, sizeof(text.text), "%.*f %s",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, units[unit]);
	return text;
}

struct tpa_text tpa_time(uint64_t ns)
{
	struct tpa_text text;
	uint64_t seconds = ns / 1000000000u;
	double value = (double)ns;
	const char *unit = "ns";

	if (seconds >= 3600) {
		snprintf(text.text, sizeof(text.text), "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
		return text;
	}
	if (seconds >= 120) {
		snprintf(text.text, sizeof(text.text), "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
		return text;
	}
	if (ns < 1000) {
		snprintf(text.text, sizeof(text.text), ns ? "%" PRIu64 " ns" : "%" PRIu64 " s", ns);
		return text;
	}
	if (ns < 999500)
		value /= 1e3, unit = "us";
	else if (ns < 999500000u)
		value /= 1e6, unit = "ms";
	else
		value /= 1e9, unit = "s";
	snprintf(text.text, sizeof(text.text), "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
	return text;
}

struct tpa_text tpa_percent(uint64_t part, uint64_t whole)
{
	struct tpa_text text;
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		snprintf(text.text, sizeof(text.text), "-");
	else if (part && percent < 0.05)
		snprintf(text.text, sizeof(text.text), "<0.1%%");
	else
		snprintf(text.text, sizeof(text.text), "%.1f%%", percent);
	return text;
}
