/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a ring: replays the oldest chunks of events, saves the replay into the file, and frees the chunks. The next time it
 * goes on from what it saved, so it keeps nothing. The last 10 ms are not replayed, so that events which a thread has stamped and not
 * yet written still come in time. Not thread-safe.
 */
#ifndef TPROF_MODEL_REPLAY_FOLD_H
#define TPROF_MODEL_REPLAY_FOLD_H

#include "model/options.h"
#include "trace/ring.h"

/* Whether so little is left of the ring that chunks should be freed. */
bool tpa_fold_is_due(const struct tpa_ring *ring);

/*
 * Refreshes the trace, which is that of the ring and has no open replay, replays until enough chunks can be freed, writes the
 * checkpoint, and frees them. False: *error says why (heap string). *freed: chunks.
 */
bool tpa_fold_once(struct tpa_trace *trace, struct tpa_ring *ring, const struct tpa_replay_options *options,
		   size_t *freed, char **error);

#endif
