/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a trace while the program still writes it. Not thread-safe. */
#ifndef TPROF_MODEL_REPLAY_FOLLOW_H
#define TPROF_MODEL_REPLAY_FOLLOW_H

#include "model/replay/replay.h"

struct tpa_follow {
	struct tpa_replay replay;
	struct tpa_replay_options options;
	bool begun;
};

/* Call tpa_follow_end() afterwards. The trace must outlive `follow`, which reads nothing yet. */
void tpa_follow_begin(struct tpa_follow *follow, struct tpa_trace *trace, const struct tpa_replay_options *options);
void tpa_follow_end(struct tpa_follow *follow);

/*
 * Reads the events that were written since the last call, and returns a run of this one process as if the trace ended here; free
 * it with tpa_run_free(). What was taken from the trace's tables before is no longer valid, see tpa_trace_refresh(). Costs a copy
 * of the replay, whose size depends on live blocks and stacks, and the new events. NULL: *error says why (heap string); then call
 * nothing but tpa_follow_end().
 */
struct tpa_run *tpa_follow_look(struct tpa_follow *follow, char **error);

#endif
