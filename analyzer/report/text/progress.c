/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the bar after a quarter of a second of work, at most ten times a second. */
#include "report/text/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#define BAR 30
#define FIRST_NS 250000000
#define AGAIN_NS 100000000

struct tpa_progress {
	const char *what;
	int64_t next_ns;
	bool drawn;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct tpa_progress *tpa_progress_new(const char *what)
{
	const char *term = getenv("TERM");
	struct tpa_progress *progress;

	if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
		return NULL;
	progress = tpa_zalloc(1, sizeof(*progress));
	progress->what = what;
	progress->next_ns = now_ns() + FIRST_NS;
	return progress;
}

void tpa_progress_update(void *context, uint64_t done, uint64_t total)
{
	struct tpa_progress *progress = context;
	int64_t now;
	int filled;

	if (!progress || !total)
		return;
	now = now_ns();
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
