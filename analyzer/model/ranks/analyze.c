/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/analyze.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ranks/clocks.h"
#include "model/ranks/communicators.h"
#include "model/ranks/match.h"
#include "model/ranks/operations.h"
#include "model/ranks/path.h"
#include "model/ranks/sums.h"
#include "model/ranks/waits.h"

static int compare_ranks(const void *left, const void *right)
{
	const struct tpa_rank *a = left, *b = right;

	return TPA_UP(a->number, b->number) ?: TPA_UP(a->process, b->process);
}

/* By the launcher's word, else by the first communicator of several ranks. */
static uint32_t number_of(const struct tpa_rank_process *said, size_t process)
{
	if (said->world_rank != TPA_COMM_UNKNOWN)
		return said->world_rank;
	for (size_t i = 0; i < said->communicator_count; i++)
		if (said->communicators[i].size > 1)
			return said->communicators[i].rank;
	return (uint32_t)process;
}

static bool is_same_host(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The worst of what is said. */
static void add_ntp(struct tpa_rank_ntp *to, const struct tpa_rank_ntp *said)
{
	bool synchronised = to->known ? to->synchronised && said->synchronised : said->synchronised;

	if (!said->known)
		return;
	if (!to->known || said->max_error_ns > to->max_error_ns)
		*to = *said;
	to->synchronised = synchronised;
}

static uint32_t host_of(struct tpa_ranks *ranks, size_t *room, const struct tpa_rank_process *said)
{
	const char *name = said->host;
	uint32_t i = 0;

	while (i < ranks->host_count && !is_same_host(ranks->hosts[i].name, name))
		i++;
	if (i == ranks->host_count)
		*TPA_APPEND(ranks->hosts, ranks->host_count, *room) = (struct tpa_rank_host){ .name = name };
	ranks->hosts[i].ranks++;
	add_ntp(&ranks->hosts[i].ntp, &said->ntp);
	return i;
}

static void list_ranks(struct tpa_ranks *ranks, const struct tpa_rank_input *inputs, size_t count)
{
	size_t room = 0, host_room = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tpa_rank_process *said = inputs[i].said;
		struct tpa_rank *rank;

		if (!said->call_count)
			continue;
		rank = TPA_APPEND(ranks->list, ranks->count, room);
		*rank = (struct tpa_rank){ .said = said,
					   .process = inputs[i].process,
					   .number = number_of(said, inputs[i].process),
					   .start = inputs[i].start < INT64_MAX / 4 ? (int64_t)inputs[i].start : 0 };
		rank->moved = inputs[i].moved;
		rank->start += rank->moved;
		rank->own_start = rank->start;
		if (said->world_size != TPA_COMM_UNKNOWN && said->world_size > ranks->world)
			ranks->world = said->world_size;
	}
	if (ranks->count)
		qsort(ranks->list, ranks->count, sizeof(*ranks->list), compare_ranks);
	for (size_t i = 0; i < ranks->count; i++)
		ranks->list[i].host = host_of(ranks, &host_room, ranks->list[i].said);
}

/* Ranks begin with their processes, also on clocks that were moved. */
static void find_spans(struct tpa_ranks *ranks, const int64_t *posts)
{
	for (size_t i = 0; i < ranks->count; i++) {
		struct tpa_rank *rank = &ranks->list[i];

		for (uint32_t k = 0; k < rank->count; k++) {
			const struct tpa_rank_op *op = &ranks->ops[rank->first + k];

			rank->begin = !k || op->post < rank->begin ? op->post : rank->begin;
			rank->end = !k || op->end > rank->end ? op->end : rank->end;
		}
		/* By as much as its first operation was moved: over the little time before that, no drift matters. */
		if (rank->count)
			rank->start += ranks->ops[rank->first].post - posts[i];
		rank->start = rank->count && rank->start > rank->begin ? rank->begin : rank->start;
		ranks->begin = !i || rank->begin < ranks->begin ? rank->begin : ranks->begin;
		ranks->end = !i || rank->end > ranks->end ? rank->end : ranks->end;
	}
}

static void align(struct tpa_ranks *ranks)
{
	int64_t *posts = tpa_zalloc(ranks->count, sizeof(*posts));

	for (size_t i = 0; i < ranks->count; i++)
		posts[i] = ranks->list[i].count ? ranks->ops[ranks->list[i].first].post : 0;
	tpa_clocks_align(ranks);
	find_spans(ranks, posts);
	free(posts);
}

struct tpa_ranks *tpa_ranks_analyze(const struct tpa_rank_input *inputs, size_t count, tpa_rank_op_name *name,
				    void *context)
{
	struct tpa_ranks *ranks = tpa_zalloc(1, sizeof(*ranks));
	uint32_t **communicators;

	list_ranks(ranks, inputs, count);
	if (!ranks->count) {
		tpa_ranks_free(ranks);
		return NULL;
	}
	communicators = tpa_communicators_join(ranks);
	tpa_operations_make(ranks, communicators);
	for (size_t i = 0; i < ranks->count; i++)
		free(communicators[i]);
	free(communicators);
	tpa_ranks_match(ranks);
	align(ranks);
	tpa_waits_find(ranks);
	tpa_path_find(ranks);
	tpa_ranks_sum(ranks, name, context);
	return ranks;
}
