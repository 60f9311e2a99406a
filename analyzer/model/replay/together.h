/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a run held together, from the changes of each: they are merged by time, so sums and peaks are exact at every
 * instant. A process leaves the sum when it ends.
 */
#ifndef TPROF_MODEL_REPLAY_TOGETHER_H
#define TPROF_MODEL_REPLAY_TOGETHER_H

#include "model/replay/changes.h"

/*
 * Reads the changes of all processes of the run, whose results are there already, and fills in the run's sums and each process's
 * share of them. `parents` as for tpa_resident_sum_new().
 */
void tpa_together(struct tpa_run *run, struct tpa_changes *changes, const size_t *parents,
		  const struct tpa_replay_options *options);

#endif
