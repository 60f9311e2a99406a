/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the blocks that are live at the end, or were live when the last step ended. Counts how many blocks of each
 * look survived, and finds when the blocks of leaks were born.
 */
#include <stdlib.h>

#include "model/growth/growth_impl.h"
#include "model/steps/steps.h"
#include "base/memory.h"
#include "base/order.h"

struct birth {
	size_t site; /* index in the list of sites */
	uint64_t place, size;
};

static int by_place(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	return TPA_UP(x->site, y->site) ?: TPA_UP(x->place, y->place);
}

static void summarize(struct tpa_growth_site *site, struct birth *births, size_t count)
{
	site->born[0] = births[0].place;
	site->born[1] = births[count / 2].place;
	site->born[2] = births[count - 1].place;
	TPA_SORT(births, count, size);
	site->typical = births[count / 2].size;
}

struct births {
	const struct tpa_growth_inputs *in;
	const struct tpa_step_stats *steps;
	const struct tpa_growth_stats *stats;
	uint32_t *index; /* by series: index in the list of sites + 1; 0: it is no leak */
	struct birth *list;
	size_t count, room;
};

static void add(struct births *births, uint32_t site, uint64_t time, uint64_t size)
{
	uint32_t series = site == TPA_SITE_NONE ? 0 : births->stats->series[site];
	uint64_t ns;

	if (!series || !births->index[series - 1])
		return;
	tpa_grow(&births->list, &births->room, births->count + 1, sizeof(*births->list));
	ns = tpa_growth_ns(births->in, time);
	births->list[births->count++] =
		(struct birth){ births->index[series - 1] - 1,
				births->stats->seconds ? ns : tpa_steps_at(births->steps, ns).first, size };
}

/* Collects the live blocks and, in a run with steps, those that were live when the last step ended. */
static void collect(struct births *births)
{
	const struct tpa_live *live = births->in->live;
	const struct tpa_outlived *outlived = births->in->outlived;
	size_t slots = (size_t)1 << (64 - live->shift);

	for (size_t i = 0; i < slots; i++)
		add(births, live->blocks[i].site, live->blocks[i].time, live->blocks[i].size);
	for (size_t i = 0; !births->stats->seconds && i < outlived->count; i++)
		add(births, outlived->list[i].site, outlived->list[i].time, outlived->list[i].size);
}

void tpa_growth_births(const struct tpa_growth_inputs *in, const struct tpa_step_stats *steps,
		       struct tpa_growth_stats *stats)
{
	struct births births = { .in = in, .steps = steps, .stats = stats };
	size_t suspects = stats->heap.leaks + stats->heap.rising;

	if (!suspects)
		return;
	births.index = tpa_zalloc(in->sites->count + 1, sizeof(*births.index));
	for (size_t i = 0; i < suspects; i++)
		births.index[stats->heap.list[i].number] = (uint32_t)i + 1;
	collect(&births);
	if (births.count)
		qsort(births.list, births.count, sizeof(*births.list), by_place);
	for (size_t from = 0, to; from < births.count; from = to) {
		for (to = from; to < births.count && births.list[to].site == births.list[from].site; to++)
			;
		summarize(&stats->heap.list[births.list[from].site], births.list + from, to - from);
	}
	free(births.index);
	free(births.list);
}

/* ---- survivors: of the blocks that lived at a look, how many are live when the last step ends ---- */

/* Index of the first look that saw a block allocated at `time`; growth->count: none did. */
static size_t look_of(const struct tpa_growth *growth, uint64_t time)
{
	return tpa_below(growth->time, growth->count, sizeof(*growth->time), 0, time);
}

static void count(struct tpa_growth *growth, uint32_t site, uint64_t time)
{
	struct tpa_growth_series *series = site < growth->sites.count ? growth->sites.list[site].series : NULL;
	size_t look = series ? look_of(growth, time) : growth->count;

	if (look < growth->count)
		series->survivors[look]++;
}

/* Turns the survivors that each look saw first into all that it saw. */
static void add_up(struct tpa_growth *growth, struct tpa_growth_series *series)
{
	for (size_t i = 1; i < growth->count; i++)
		series->survivors[i] += series->survivors[i - 1];
}

void tpa_growth_survivors(struct tpa_growth *growth, const struct tpa_growth_inputs *in)
{
	const struct tpa_live *live = in->live;
	const struct tpa_outlived *outlived = in->outlived;
	size_t slots = (size_t)1 << (64 - live->shift);

	growth->survivors = !in->estimates && outlived->count < TPA_OUTLIVED_MANY;
	if (!growth->survivors)
		return;
	for (size_t i = 0; i < slots; i++)
		if (live->blocks[i].site != TPA_SITE_NONE)
			count(growth, live->blocks[i].site, live->blocks[i].time);
	for (size_t i = 0; i < outlived->count; i++)
		count(growth, outlived->list[i].site, outlived->list[i].time);
	for (size_t i = TPA_SITE_FIRST; i < growth->sites.count; i++)
		if (growth->sites.list[i].series)
			add_up(growth, growth->sites.list[i].series);
}
