/* SPDX-License-Identifier: Apache-2.0 */
/* Of the blocks that lived at a look, how many live yet when the last step ends. */
#include "model/growth/growth_impl.h"

/* The first look that found it; growth->count: none did. */
static size_t look_of(const struct tp_growth *growth, uint64_t time)
{
	size_t from = 0, to = growth->count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (growth->time[middle] < time)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void count(struct tp_growth *growth, uint32_t site, uint64_t time)
{
	struct tp_growth_series *series = site < growth->sites.count ? growth->sites.list[site].series : NULL;
	size_t look = series ? look_of(growth, time) : growth->count;

	if (look < growth->count)
		series->survivors[look]++;
}

/* From those that a look found first to all that it found. */
static void add_up(struct tp_growth *growth, struct tp_growth_series *series)
{
	for (size_t i = 1; i < growth->count; i++)
		series->survivors[i] += series->survivors[i - 1];
}

void tp_growth_survivors(struct tp_growth *growth, const struct tp_growth_inputs *in)
{
	const struct tp_live *live = in->live;
	const struct tp_outlived *outlived = in->outlived;
	size_t slots = (size_t)1 << (64 - live->shift);

	growth->survivors = !in->estimates && outlived->count < TP_OUTLIVED_MANY;
	if (!growth->survivors)
		return;
	for (size_t i = 0; i < slots; i++)
		if (live->blocks[i].site != TP_SITE_NONE)
			count(growth, live->blocks[i].site, live->blocks[i].time);
	for (size_t i = 0; i < outlived->count; i++)
		count(growth, outlived->list[i].site, outlived->list[i].time);
	for (size_t i = TP_SITE_FIRST; i < growth->sites.count; i++)
		if (growth->sites.list[i].series)
			add_up(growth, growth->sites.list[i].series);
}
