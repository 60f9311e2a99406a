/* SPDX-License-Identifier: Apache-2.0 */
/* How old the blocks of leaks are: when each that lives at the end was born. */
#include <stdlib.h>

#include "model/growth.h"
#include "model/replay.h"
#include "model/steps.h"
#include "trace/reserve.h"

struct birth {
	size_t site; /* in the list */
	uint64_t place, size;
};

static int by_place(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int by_size(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	return x->size < y->size ? -1 : x->size > y->size;
}

static void summarize(struct tp_growth_site *site, struct birth *births, size_t count)
{
	site->born[0] = births[0].place;
	site->born[1] = births[count / 2].place;
	site->born[2] = births[count - 1].place;
	qsort(births, count, sizeof(*births), by_size);
	site->typical = births[count / 2].size;
}

bool tp_growth_births(const struct tp_replay *replay, const struct tp_step_stats *steps, struct tp_growth_stats *stats)
{
	size_t slots = (size_t)1 << (64 - replay->live.shift), count = 0, room = 0;
	uint32_t *index = stats->heap.leaks ? calloc(replay->sites.count, sizeof(*index)) : NULL;
	struct birth *births = NULL;
	bool good = index != NULL;

	if (!stats->heap.leaks)
		return true;
	for (size_t i = 0; good && i < stats->heap.leaks; i++)
		index[stats->heap.list[i].number] = (uint32_t)i + 1;
	for (size_t i = 0; good && i < slots; i++) {
		const struct tp_block *block = &replay->live.blocks[i];
		uint64_t ns;

		if (block->site == TP_SITE_NONE || !index[block->site])
			continue;
		good = tp_reserve(&births, &room, count + 1, sizeof(*births));
		if (!good)
			break;
		ns = tp_replay_ns(replay, block->time);
		births[count++] = (struct birth){ index[block->site] - 1,
						  stats->seconds ? ns : tp_steps_at(steps, ns).first, block->size };
	}
	if (count)
		qsort(births, count, sizeof(*births), by_place);
	for (size_t from = 0, to; good && from < count; from = to) {
		for (to = from; to < count && births[to].site == births[from].site; to++)
			;
		summarize(&stats->heap.list[births[from].site], births + from, to - from);
	}
	free(index);
	free(births);
	return good;
}
