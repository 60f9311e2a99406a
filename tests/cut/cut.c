/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into a tprof-analyze of its own, with the replay's steps wrapped: after every CUT_EVERY events the replay is looked
 * at, saved, freed, and loaded into the same place. Each command must print what it prints without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/replay/run.h"
#include "base/archive.h"
#include "model/replay/replay.h"

bool __real_tp_replay_steps(struct tp_replay *replay, size_t count);
bool __wrap_tp_replay_steps(struct tp_replay *replay, size_t count);
bool __wrap_tp_replay_step(struct tp_replay *replay);

static uint64_t distance(void)
{
	static uint64_t every;
	const char *text = getenv("CUT_EVERY");

	if (!every)
		every = text ? strtoull(text, NULL, 10) : 1000;
	return every ? every : 1;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "tprof-analyze-cut: %s: %s\n", what, why ? why : "failed");
	abort();
}

static void look(const struct tp_replay *replay)
{
	struct tp_run *run = calloc(1, sizeof(*run));

	if (run)
		run->processes = calloc(1, sizeof(*run->processes));
	if (!run || !run->processes || !tp_replay_look(replay, run->processes))
		fail("look", NULL);
	run->process_count = 1;
	tp_run_free(run);
}

static void cut(struct tp_replay *replay)
{
	struct tp_archive saved = { 0 }, loaded = { 0 };
	struct tp_trace *trace = replay->trace;
	const struct tp_replay_options *options = replay->options;
	uint64_t start_ns = replay->start_ns;

	if (!tp_replay_save(replay, &saved) || !tp_archive_seal(&saved))
		fail("save", saved.failed);
	tp_replay_free(replay);
	memset(replay, 0xa5, sizeof(*replay));
	if (!tp_archive_open(&loaded, saved.bytes, saved.size) ||
	    !tp_replay_load(replay, trace, options, start_ns, &loaded))
		fail("load", loaded.failed);
	tp_archive_free(&saved);
}

bool __wrap_tp_replay_steps(struct tp_replay *replay, size_t count)
{
	while (count && replay->event) {
		uint64_t left = distance() - replay->heap.events % distance();
		size_t some = left < count ? (size_t)left : count;

		if (!__real_tp_replay_steps(replay, some))
			return false;
		count -= some;
		if (some == left && replay->heap.events) {
			look(replay);
			cut(replay);
		}
	}
	return true;
}

bool __wrap_tp_replay_step(struct tp_replay *replay)
{
	return __wrap_tp_replay_steps(replay, 1);
}
