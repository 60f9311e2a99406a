/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/timeline.h"

#include "base/archive.h"
#include "base/memory.h"

#define LIMIT_DEFAULT 512
#define LIMIT_MIN 8
#define LIMIT_MAX (1u << 20)
#define WIDTH_MAX (UINT64_C(1) << 62)

void tpa_timeline_init(struct tpa_timeline *timeline, uint32_t limit)
{
	if (!limit)
		limit = LIMIT_DEFAULT;
	*timeline = (struct tpa_timeline){ .width = 1 };
	timeline->limit = limit < LIMIT_MIN ? LIMIT_MIN : limit > LIMIT_MAX ? LIMIT_MAX : limit;
	timeline->points = tpa_zalloc(timeline->limit, sizeof(*timeline->points));
}

static uint64_t interval_of(const struct tpa_timeline *timeline, const struct tpa_point *point)
{
	return (point->time_ns - timeline->origin) / timeline->width;
}

/*
 * Of the points of one interval, keeps the moments of the most live bytes and of the largest RSS, and the last point.
 * Returns how many.
 */
static size_t keep(struct tpa_point *points, size_t count, struct tpa_point *to)
{
	size_t best = 0, most = 0, kept = 0;

	for (size_t i = 1; i < count; i++) {
		if (points[i].live_bytes > points[best].live_bytes)
			best = i;
		if (points[i].rss > points[most].rss)
			most = i;
	}
	if (points[best].rss >= points[most].rss)
		most = best;
	for (size_t i = 0; i < count; i++)
		if (i == best || i == most || i == count - 1)
			to[kept++] = points[i];
	return kept;
}

/* Joins intervals in pairs. */
static void join(struct tpa_timeline *timeline)
{
	struct tpa_point *points = timeline->points;
	size_t kept = 0, next;

	timeline->width *= 2;
	for (size_t i = 0; i < timeline->count; i = next) {
		for (next = i + 1; next < timeline->count; next++)
			if (interval_of(timeline, &points[next]) != interval_of(timeline, &points[i]))
				break;
		kept += keep(points + i, next - i, points + kept);
	}
	timeline->count = kept;
}

/* Always leaves room for the three points that end a timeline. */
static void push(struct tpa_timeline *timeline, const struct tpa_point *point)
{
	while (timeline->count + 4 > timeline->limit && timeline->width < WIDTH_MAX)
		join(timeline);
	if (timeline->count + 4 <= timeline->limit)
		timeline->points[timeline->count++] = *point;
}

/* Gets the points that the current interval keeps, in time order. Returns how many. */
static int kept_of(const struct tpa_timeline *timeline, struct tpa_point kept[2])
{
	const struct tpa_point *best = &timeline->best, *most = &timeline->most;

	if (most->rss <= best->rss) {
		kept[0] = *best;
		return 1;
	}
	kept[0] = most->time_ns < best->time_ns ? *most : *best;
	kept[1] = most->time_ns < best->time_ns ? *best : *most;
	return 2;
}

/* After intervals became wider, the last points may lie in the current one. Moves them back into it. */
static void reopen(struct tpa_timeline *timeline, uint64_t begin)
{
	while (timeline->count && timeline->points[timeline->count - 1].time_ns >= begin) {
		const struct tpa_point *point = &timeline->points[--timeline->count];

		if (point->live_bytes >= timeline->best.live_bytes)
			timeline->best = *point;
		if (point->rss >= timeline->most.rss)
			timeline->most = *point;
	}
}

void tpa_timeline_turn(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now)
{
	uint64_t end = timeline->next;

	if (end) {
		struct tpa_point kept[2];
		int count = kept_of(timeline, kept);

		for (int i = 0; i < count; i++)
			push(timeline, &kept[i]);
		if (time - end >= timeline->width) {
			struct tpa_point quiet = *now;

			quiet.time_ns = end;
			push(timeline, &quiet);
		}
	} else {
		timeline->origin = time;
	}
	end = (time - timeline->origin) / timeline->width * timeline->width + timeline->origin;
	timeline->best = *now;
	timeline->best.time_ns = end;
	timeline->most = timeline->best;
	reopen(timeline, end);
	timeline->next = end + timeline->width;
}

struct tpa_point *tpa_timeline_finish(struct tpa_timeline *timeline, uint64_t time, const struct tpa_point *now,
				      size_t *count)
{
	struct tpa_point *points = timeline->points;

	if (timeline->next) {
		timeline->count += (size_t)kept_of(timeline, points + timeline->count);
		/* If the last event is the first of its interval, the interval still counts what was live before it. */
		if (time > points[timeline->count - 1].time_ns || now->live_bytes != timeline->best.live_bytes ||
		    now->live_blocks != timeline->best.live_blocks) {
			points[timeline->count] = *now;
			points[timeline->count++].time_ns = time;
		}
	}
	*count = timeline->count;
	timeline->points = NULL;
	tpa_shrink(&points, *count, sizeof(*points));
	return points;
}

void tpa_timeline_archive(struct tpa_archive *archive, struct tpa_timeline *timeline)
{
	size_t room = timeline->limit;

	TPA_ARCHIVE(archive, timeline->origin);
	TPA_ARCHIVE(archive, timeline->width);
	TPA_ARCHIVE(archive, timeline->next);
	TPA_ARCHIVE(archive, timeline->best);
	TPA_ARCHIVE(archive, timeline->most);
	tpa_archive_array(archive, &timeline->points, &timeline->count, &room, sizeof(*timeline->points));
	tpa_archive_check(archive, timeline->count + 3 <= timeline->limit && timeline->width,
			  "the timeline is of another length");
}
