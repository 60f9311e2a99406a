/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/path.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

/* An op that waited, and the end of its waiting. */
struct waited {
	int64_t until;
	uint32_t op;
};

static int compare(const void *left, const void *right)
{
	const struct waited *a = left, *b = right;

	return TPA_UP(a->until, b->until) ?: TPA_UP(a->op, b->op);
}

/* Of each rank, what waited, in order of the ends: `ends[rank]` is where the rank's part of the list ends. */
static struct waited *list_waits(const struct tpa_ranks *ranks, size_t *begins, size_t *ends)
{
	struct waited *list = tpa_zalloc(ranks->op_count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t r = 0; r < ranks->count; r++) {
		const struct tpa_rank *rank = &ranks->list[r];

		begins[r] = count;
		for (uint32_t i = rank->first; i < rank->first + rank->count; i++)
			if (ranks->ops[i].wait_ns)
				list[count++] = (struct waited){ ranks->ops[i].begin + ranks->ops[i].wait_ns, i };
		ends[r] = count;
		qsort(list + begins[r], ends[r] - begins[r], sizeof(*list), compare);
	}
	return list;
}

static void add(struct tpa_ranks *ranks, size_t *room, const struct tpa_rank_piece *piece)
{
	if (piece->begin >= piece->end)
		return;
	*TPA_APPEND(ranks->path, ranks->path_count, *room) = *piece;
	ranks->list[piece->rank].path_ns += piece->end - piece->begin;
}

static uint32_t last_rank(const struct tpa_ranks *ranks)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < ranks->count; i++)
		if (ranks->list[i].end > ranks->list[last].end)
			last = i;
	return last;
}

void tpa_path_find(struct tpa_ranks *ranks)
{
	size_t *begins = tpa_zalloc(ranks->count, sizeof(*begins)), *at = tpa_zalloc(ranks->count, sizeof(*at));
	struct waited *list = list_waits(ranks, begins, at);
	uint32_t rank = last_rank(ranks), op = TPA_RANK_NONE;
	int64_t time = ranks->list[rank].end;
	size_t room = 0;

	/* Each wait is passed once at most, so this ends also where times contradict one another. */
	for (;;) {
		while (at[rank] > begins[rank] && list[at[rank] - 1].until > time)
			at[rank]--;
		if (at[rank] == begins[rank])
			break;
		at[rank]--;
		add(ranks, &room, &(struct tpa_rank_piece){ list[at[rank]].until, time, rank, op });
		time = list[at[rank]].until;
		op = ranks->ops[list[at[rank]].op].cause;
		rank = ranks->ops[op].rank;
	}
	add(ranks, &room, &(struct tpa_rank_piece){ ranks->begin, time, rank, op });
	for (size_t i = 0; i < ranks->path_count / 2; i++) {
		struct tpa_rank_piece other = ranks->path[i];

		ranks->path[i] = ranks->path[ranks->path_count - 1 - i];
		ranks->path[ranks->path_count - 1 - i] = other;
	}
	free(begins);
	free(at);
	free(list);
}
