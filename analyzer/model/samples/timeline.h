/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline of bounded length whose end is not known in advance: intervals start short and are joined in pairs
 * whenever there are too many. A point's values hold until the next point.
 *
 * Each interval keeps the moments of its largest live bytes and its largest RSS, so the highest points are the exact
 * peaks. It also keeps its last point, so that what ended in it does not seem to live through the quiet time that
 * follows. What is live when an interval begins counts in it; a stretch without events has one point at its begin.
 */
#ifndef TPROF_MODEL_SAMPLES_TIMELINE_H
#define TPROF_MODEL_SAMPLES_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

struct tpa_point {	  /* a moment of the timeline */
	uint64_t time_ns; /* since the run's start */
	uint64_t live_bytes, live_blocks, mapped_bytes;
	uint64_t rss, vms;			/* latest sample by then; 0 if none yet */
	double bytes_variance, blocks_variance; /* of live_bytes and live_blocks, if they are estimates */
};

struct tpa_timeline {
	struct tpa_point *points;
	size_t count, limit;
	uint64_t origin, width; /* begin of the first interval, and length of each, in the unit of the caller's times */
	uint64_t next;		/* end of the current interval; 0: none has begun */
	struct tpa_point best;	/* of the current interval: the most live bytes */
	struct tpa_point most;	/* of the current interval: the largest RSS */
};

/* Allows at most `limit` points; 0: 512. The limit is raised to 8 or cut to 2^20 if necessary. */
void tpa_timeline_init(struct tpa_timeline *timeline, uint32_t limit);
/* Ends the current interval and begins the one with `time`; for tpa_timeline_advance(). */
void tpa_timeline_turn(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now);

/* To be called before each event; `now`: the values up to that moment. */
static inline void tpa_timeline_advance(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	if (__builtin_expect(time >= timeline->next, 0))
		tpa_timeline_turn(timeline, time, now);
}

/* To be called after an event that changed what is live. */
static inline void tpa_timeline_record(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	if (now->live_bytes > timeline->best.live_bytes) {
		timeline->best = *now;
		timeline->best.time_ns = time;
	}
}

/* To be called after an event that changed RSS. */
static inline void tpa_timeline_record_rss(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	if (now->rss > timeline->most.rss) {
		timeline->most = *now;
		timeline->most.time_ns = time;
	}
}

/* Saves the timeline, or loads it into one that was just initialized with the same limit. */
void tpa_timeline_archive(struct tpa_archive *archive, struct tpa_timeline *timeline);

/*
 * Adds the points of the last interval and `now`, the values at the end. Returns the points, which the caller frees;
 * their times are in the unit in which they were given.
 */
struct tpa_point *tpa_timeline_finish(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now,
				      size_t *count);

#endif
