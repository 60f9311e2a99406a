/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a ring: replays the oldest chunks of events, saves the replay into the file, and frees the chunks. Chunks of
 * events that a program writes again and again are replayed in the order of time, which lags behind the program by about half the
 * ring: so events that a thread has stamped and not yet written still come in time. Not thread-safe.
 */
#ifndef TPROF_MODEL_REPLAY_FOLD_H
#define TPROF_MODEL_REPLAY_FOLD_H

#include "model/replay/replay.h"
#include "trace/ring.h"

struct tpa_fold {
	struct tpa_replay replay;
	struct tpa_replay_options options;
	struct tpa_ring *ring;
	uint8_t *states; /* of the places, from before the trace was read: the chunks that had ended by then */
};

/* The trace is that of the ring. Both must outlive `fold`. Call tpa_fold_end() afterwards. */
void tpa_fold_begin(struct tpa_fold *fold, struct tpa_trace *trace, struct tpa_ring *ring,
		    const struct tpa_replay_options *options);
void tpa_fold_end(struct tpa_fold *fold);

/* Whether so little is left of the ring that chunks should be freed. */
bool tpa_fold_is_due(const struct tpa_ring *ring);

/*
 * Reads the trace again, replays until enough chunks can be freed, writes the checkpoint, and frees them. False: *error says why
 * (heap string); then call nothing but tpa_fold_end(). *freed: chunks.
 */
bool tpa_fold_once(struct tpa_fold *fold, size_t *freed, char **error);

#endif
