/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "model/timeline.h"

#define LIMIT_DEFAULT 512
#define LIMIT_MIN 8
#define LIMIT_MAX (1u << 20)
#define WIDTH_MAX (UINT64_C(1) << 62)

bool tp_timeline_init(struct tp_timeline *timeline, uint32_t limit)
{
	if (!limit)
		limit = LIMIT_DEFAULT;
	*timeline = (struct tp_timeline){ .width = 1 };
	timeline->limit = limit < LIMIT_MIN ? LIMIT_MIN : limit > LIMIT_MAX ? LIMIT_MAX : limit;
	timeline->points = calloc(timeline->limit, sizeof(*timeline->points));
	return timeline->points != NULL;
}

/* Joins intervals in pairs. */
static void join(struct tp_timeline *timeline)
{
	size_t kept = 0, i;

	timeline->width *= 2;
	for (i = 0; i < timeline->count; i++) {
		struct tp_point *point = &timeline->points[i], *last = kept ? &timeline->points[kept - 1] : NULL;

		if (!last || (last->time_ns - timeline->origin) / timeline->width !=
				     (point->time_ns - timeline->origin) / timeline->width)
			timeline->points[kept++] = *point;
		else if (point->live_bytes > last->live_bytes)
			*last = *point;
	}
	timeline->count = kept;
}

/* Always leaves room for the two points that end a timeline. */
static void push(struct tp_timeline *timeline, const struct tp_point *point)
{
	while (timeline->count + 3 > timeline->limit && timeline->width < WIDTH_MAX)
		join(timeline);
	if (timeline->count + 3 <= timeline->limit)
		timeline->points[timeline->count++] = *point;
}

void tp_timeline_turn(struct tp_timeline *timeline, uint64_t time, const struct tp_point *now)
{
	uint64_t end = timeline->next;

	if (end) {
		push(timeline, &timeline->best);
		if (time - end >= timeline->width) {
			struct tp_point quiet = *now;

			quiet.time_ns = end;
			push(timeline, &quiet);
		}
	} else {
		timeline->origin = time;
	}
	end = (time - timeline->origin) / timeline->width * timeline->width + timeline->origin;
	timeline->best = *now;
	timeline->best.time_ns = end;
	/* Intervals that became wider: the last point, which is not below `now`, lies in the current one. */
	if (timeline->count && timeline->points[timeline->count - 1].time_ns >= end)
		timeline->best = timeline->points[--timeline->count];
	timeline->next = end + timeline->width;
}

struct tp_point *tp_timeline_finish(struct tp_timeline *timeline, uint64_t time, const struct tp_point *now,
				    size_t *count)
{
	struct tp_point *points = timeline->points;

	if (timeline->next) {
		points[timeline->count++] = timeline->best;
		/* The last event may be the first of its interval, in which what was live before it counts. */
		if (time > timeline->best.time_ns || now->live_bytes != timeline->best.live_bytes ||
		    now->live_blocks != timeline->best.live_blocks) {
			points[timeline->count] = *now;
			points[timeline->count++].time_ns = time;
		}
	}
	*count = timeline->count;
	timeline->points = NULL;
	return points;
}
