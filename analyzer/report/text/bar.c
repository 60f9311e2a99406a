/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/bar.h"

#include <stdio.h>
#include <string.h>

#define EIGHTHS 8

static void append(struct tpa_text *text, const char *more)
{
	size_t used = strlen(text->text);

	snprintf(text->text + used, sizeof(text->text) - used, "%s", more);
}

struct tpa_text tpa_bar(const struct tpa_page *page, double share)
{
	/* U+258F to U+2588: an eighth of a column to all of it. */
	static const char *const parts[EIGHTHS + 1] = { "",
							"\xe2\x96\x8f",
							"\xe2\x96\x8e",
							"\xe2\x96\x8d",
							"\xe2\x96\x8c",
							"\xe2\x96\x8b",
							"\xe2\x96\x8a",
							"\xe2\x96\x89",
							"\xe2\x96\x88" };
	struct tpa_text text = { "" };
	double columns = (share > 1 ? 1 : share > 0 ? share : 0) * TPA_BAR_COLUMNS;
	int eighths = (int)(columns * EIGHTHS + 0.5);

	if (page->utf8)
		for (; eighths > 0; eighths -= EIGHTHS)
			append(&text, parts[eighths < EIGHTHS ? eighths : EIGHTHS]);
	else
		for (int i = 0; i < (int)(columns + 0.5); i++)
			append(&text, "#");
	return text;
}

struct tpa_text tpa_curve(const struct tpa_page *page, const double *values, size_t count)
{
	/* U+2581 to U+2588 */
	static const char *const heights[] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
					       "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88" };
	static const char *const ascii[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	size_t columns = count < TPA_BAR_COLUMNS ? count : TPA_BAR_COLUMNS;
	struct tpa_text text = { "" };
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < columns; i++) {
		double value = values[(i + 1) * count / columns - 1];
		int height = most > 0 && value > 0 ? (int)(value / most * (EIGHTHS - 1) + 0.5) : 0;

		append(&text, (page->utf8 ? heights : ascii)[height]);
	}
	return text;
}
