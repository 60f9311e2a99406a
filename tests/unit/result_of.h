/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the model: a look at a replay that goes on. Included behind cmocka. */
#ifndef TPROF_TESTS_RESULT_OF_H
#define TPROF_TESTS_RESULT_OF_H

#include <stdlib.h>

#include "model/replay/replay.h"
#include "model/replay/run.h"

/* What the replay has up to now; the caller frees it by tpa_run_free(). */
static inline struct tpa_run *result_of(struct tpa_replay *replay)
{
	struct tpa_run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->processes = calloc(1, sizeof(*run->processes));
	assert_non_null(run->processes);
	run->process_count = 1;
	tpa_replay_result(replay, run->processes);
	return run;
}

#endif
