/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/archive.h"

void tpa_levels_init(struct tpa_levels *levels, uint64_t start, uint64_t from)
{
	levels->begin = from;
	levels->now = (struct tpa_level_span){ .from = start, .ops = true };
}

/* Joins the two neighbours that are shortest together. */
static void join_shortest(struct tpa_levels *levels)
{
	struct tpa_level_span *list = levels->list;
	size_t best = 0;

	for (size_t i = 1; i + 1 < levels->count; i++)
		if (list[i + 1].to - list[i].from < list[best + 1].to - list[best].from)
			best = i;
	list[best] = (struct tpa_level_span){ .from = list[best].from, .to = list[best + 1].to, .several = true };
	memmove(&list[best + 1], &list[best + 2], (levels->count - best - 2) * sizeof(*list));
	levels->count--;
}

static uint64_t begin_of(const struct tpa_levels *levels)
{
	return levels->now.from > levels->begin ? levels->now.from : levels->begin;
}

uint64_t tpa_levels_lasted(const struct tpa_levels *levels, uint64_t time)
{
	uint64_t from = begin_of(levels);

	return time > from ? time - from : 0;
}

void tpa_levels_end(struct tpa_levels *levels, uint64_t time)
{
	uint64_t lasted = tpa_levels_lasted(levels, time);

	if (!lasted)
		return;
	levels->now.from = time - lasted;
	levels->now.to = time;
	levels->time[levels->now.mean][levels->now.ops] += lasted;
	levels->list[levels->count++] = levels->now;
	if (levels->count > TPA_LEVEL_SPANS)
		join_shortest(levels);
}

bool tpa_levels_change(struct tpa_levels *levels, uint64_t time, uint8_t mean, bool ops)
{
	if (mean == levels->now.mean && ops == levels->now.ops)
		return false;
	tpa_levels_end(levels, time);
	levels->now = (struct tpa_level_span){ .from = time, .mean = mean, .ops = ops };
	return true;
}

bool tpa_levels_sampled(const struct tpa_level_stats *stats)
{
	return stats->time_count && stats->times[stats->time_count - 1].mean;
}

void tpa_level_stats_free(struct tpa_level_stats *stats)
{
	free(stats->spans);
	free(stats->times);
}

void tpa_levels_archive(struct tpa_archive *archive, struct tpa_levels *levels)
{
	TPA_ARCHIVE(archive, levels->now);
	TPA_ARCHIVE(archive, levels->list);
	TPA_ARCHIVE(archive, levels->count);
	TPA_ARCHIVE(archive, levels->time);
	tpa_archive_check(archive, levels->now.mean <= TPA_MEAN_MOST && levels->count <= TPA_LEVEL_SPANS,
			  "the levels of recording are out of range");
}
