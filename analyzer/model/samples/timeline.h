/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline of bounded length whose end is not known in advance: intervals begin short and are joined in pairs whenever
 * there are too many. A point's values hold until the next point. Each interval keeps the moments of its largest live
 * bytes and its largest RSS, so the highest points are the exact peaks, and its last point, so that what ended in it does
 * not seem to live through the quiet time that follows. What is live at an interval's begin counts in it; an empty stretch
 * has one point at its begin.
 */
#ifndef TPROF_MODEL_SAMPLES_TIMELINE_H
#define TPROF_MODEL_SAMPLES_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

struct tpa_point {	  /* of the timeline: the moment within its interval when live_bytes was largest */
	uint64_t time_ns; /* since the run's start */
	uint64_t live_bytes, live_blocks, mapped_bytes;
	uint64_t rss, vms;			/* latest sample by then; 0 if none yet */
	double bytes_variance, blocks_variance; /* of what is live, if it is an estimate */
};

struct tpa_timeline {
	struct tpa_point *points;
	size_t count, limit;
	uint64_t origin, width; /* of the intervals, in the unit of the times that are given */
	uint64_t next;		/* where the current interval ends; 0: none was begun */
	struct tpa_point best;	/* of the current interval: the most live bytes */
	struct tpa_point most;	/* of the current interval: the largest RSS */
};

/* At most `limit` points (0: 512, at least 8). */
void tpa_timeline_init(struct tpa_timeline *timeline, uint32_t limit);
void tpa_timeline_turn(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now);

/* Before an event: `now` holds what has been true up to it. */
static inline void tpa_timeline_advance(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	if (__builtin_expect(time >= timeline->next, 0))
		tpa_timeline_turn(timeline, time, now);
}

/* After an event that changed what is live. */
static inline void tpa_timeline_record(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	if (now->live_bytes > timeline->best.live_bytes) {
		timeline->best = *now;
		timeline->best.time_ns = time;
	}
}

/* After an event that changed RSS. */
static inline void tpa_timeline_record_rss(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	if (now->rss > timeline->most.rss) {
		timeline->most = *now;
		timeline->most.time_ns = time;
	}
}

/* Saves, or loads into a timeline that was just initialized with the same limit. */
void tpa_timeline_archive(struct tpa_archive *archive, struct tpa_timeline *timeline);

/* The last interval, and what was live at the end. Returns the points, now the caller's (times as they were given). */
struct tpa_point *tpa_timeline_finish(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now,
				      size_t *count);

#endif
