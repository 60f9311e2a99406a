/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the bar after a quarter of a second of work, at most ten times a second. */
#include "report/text/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/now.h"

#define BAR 30
#define FIRST_NS 250000000
#define AGAIN_NS 100000000

struct tpa_progress {
	const char *what;
	int64_t next_ns;
	bool drawn;
};

struct tpa_progress *tpa_progress_new(const char *what)
{
	const char *term = getenv("TERM");
	struct tpa_progress *progress;

	if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
		return NULL;
	progress = tpa_zalloc(1, sizeof(*progress));
	progress->what = what;
	progress->next_ns = (int64_t)tpa_now_ns(CLOCK_MONOTONIC) + FIRST_NS;
	return progress;
}

void tpa_progress_update(void *context, uint64_t done, uint64_t total)
{
	struct tpa_progress *progress = context;
	int64_t now;
	int filled;

	if (!progress || !total)
		return;
	now = (int64_t)tpa_now_ns(CLOCK_MONOTONIC);
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + AGAIN_NS;
	progress->drawn = true;
	if (done > total)
		done = total;
	filled = (int)((double)done / (double)total * BAR);
	fprintf(stderr, "\r%s [%.*s%*s] %3d%%", progress->what, filled, "##############################", BAR - filled,
		"", (int)(100.0 * (double)done / (double)total));
	fflush(stderr);
}

void tpa_progress_free(struct tpa_progress *progress)
{
	if (!progress)
		return;
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	free(progress);
}
