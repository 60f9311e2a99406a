/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays all traces of a run, several at a time, each in one pass or, where its steps have to be found, in two. Memory grows with
 * live blocks, live mappings and distinct stacks of those that are replayed at one time, and with the results of all, never with the
 * number of events.
 */
#ifndef TPROF_MODEL_REPLAY_RUN_H
#define TPROF_MODEL_REPLAY_RUN_H

#include "model/options.h"
#include "model/result/result.h"

/*
 * Replays the traces. They stay owned by the caller and must outlive the run. `options` may be NULL. Damaged records are in
 * the traces' damage lists.
 */
struct tpa_run *tpa_run_replay(struct tpa_trace *const *traces, size_t count, const struct tpa_replay_options *options);

/* Fills in the sums of a run of one process, which are the process's own. */
void tpa_run_sum_one(struct tpa_run *run);

#endif
