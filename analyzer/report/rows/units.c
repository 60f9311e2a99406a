/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tpa_text tpa_text_of(const char *format, ...)
{
	struct tpa_text text;
	va_list args;

	va_start(args, format);
	vsnprintf(text.text, sizeof(text.text), format, args);
	va_end(args);
	return text;
}

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

struct tpa_text tpa_range_text(uint64_t first, uint64_t count)
{
	return tpa_text_of(count > 1 ? "%" PRIu64 "-%" PRIu64 : "%" PRIu64, first, first + count - 1);
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
	/* 999.5 would be printed with four digits, so use the next unit. */
	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	return tpa_text_of("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

struct tpa_text tpa_signed_bytes(int64_t bytes, bool exact)
{
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;

	return tpa_text_of("%s%s", bytes < 0 ? "-" : "", tpa_bytes(size, exact).text);
}

struct tpa_text tpa_time(uint64_t ns)
{
	uint64_t seconds = ns / 1000000000u;
	double value = (double)ns;
	const char *unit = "ns";

	if (seconds >= 3600)
		return tpa_text_of("%" PRIu64 " h %02" PRIu64 " min", seconds / 3600, seconds / 60 % 60);
	if (seconds >= 120)
		return tpa_text_of("%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
	if (ns < 1000)
		return tpa_text_of(ns ? "%" PRIu64 " ns" : "%" PRIu64 " s", ns);
	if (ns < 999500)
		value /= 1e3, unit = "us";
	else if (ns < 999500000u)
		value /= 1e6, unit = "ms";
	else
		value /= 1e9, unit = "s";
	return tpa_text_of("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

static struct tpa_text percent_text(double percent)
{
	return tpa_text_of(percent > 0 && percent < 0.05 ? "<0.1%%" : "%.1f%%", percent);
}

struct tpa_text tpa_percent(uint64_t part, uint64_t whole)
{
	return whole ? percent_text(100.0 * (double)part / (double)whole) : (struct tpa_text){ "-" };
}

struct tpa_text tpa_share(double share)
{
	return percent_text(100 * share);
}
