/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool tpa_parse_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

bool tpa_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 },  { "ms", 1e6 },  { "us", 1e3 },
		      { "ns", 1 }, { "m", 60e9 }, { "h", 3600e9 } };
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	value = strtod(text, &end);
	if (end == text)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0) {
			value *= units[i].ns;
			if (!isfinite(value) || value < 0 || value >= 9e18)
				return false;
			*ns = (uint64_t)llround(value);
			return true;
		}
	return false;
}
