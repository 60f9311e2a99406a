/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/replay/run.h"
#include "model/replay/start_times.h"

void tpa_follow_begin(struct tpa_follow *follow, struct tpa_trace *trace, const struct tpa_replay_options *options)
{
	follow->options = *options;
	follow->begun = false;
	tpa_replay_open(&follow->replay, trace, &follow->options, 0);
}

void tpa_follow_end(struct tpa_follow *follow)
{
	tpa_replay_free(&follow->replay);
}

struct tpa_run *tpa_follow_look(struct tpa_follow *follow, char **error)
{
	struct tpa_trace *trace = follow->replay.trace;
	struct tpa_run *run;

	if (follow->begun && !tpa_replay_refresh(&follow->replay, error))
		return NULL;
	follow->begun = true;
	tpa_replay_steps(&follow->replay, SIZE_MAX);
	run = tpa_zalloc(1, sizeof(*run));
	run->processes = tpa_zalloc(1, sizeof(*run->processes));
	if (!tpa_replay_look(&follow->replay, run->processes)) {
		tpa_run_free(run);
		*error = strdup("its state can't be copied");
		return NULL;
	}
	run->process_count = 1;
	run->start_unix_ns = trace->header->start.unix_ns;
	run->duration_ns = run->processes[0].duration_ns;
	tpa_run_sum_one(run);
	return run;
}
