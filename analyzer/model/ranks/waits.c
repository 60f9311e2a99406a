/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/waits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ranks/flows.h"
#include "model/ranks/sources.h"
#include "model/stats/stats.h"

static struct tpa_rank_op *member(const struct tpa_ranks *ranks, const struct tpa_rank_match *group, uint32_t i)
{
	return &ranks->ops[ranks->members[group->first + i]];
}

/* Where no rank's bytes were recorded, all have some. Then a call that did not wait has no time in which it could have. */
static bool has_no_bytes(const struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	for (uint32_t i = 0; i < group->count; i++)
		if (member(ranks, group, i)->sent || member(ranks, group, i)->received)
			return false;
	return true;
}

static struct tpa_rank_op with_bytes(const struct tpa_rank_op *op, bool none)
{
	struct tpa_rank_op told = *op;

	if (none)
		told.sent = told.received = TPA_BYTES_UNKNOWN;
	return told;
}

static bool waits(const struct tpa_rank_op *op, bool none)
{
	const struct tpa_rank_op told = with_bytes(op, none);

	return tpa_flow_waits(&told);
}

static bool is_awaited(const struct tpa_rank_op *op, bool none)
{
	const struct tpa_rank_op told = with_bytes(op, none);

	return tpa_flow_is_awaited(&told);
}

static enum tpa_wait_pattern pattern_of(const struct tpa_rank_op *op)
{
	static const uint8_t patterns[TPA_FLOWS] = { [TPA_FLOW_BARRIER] = TPA_WAIT_AT_BARRIER,
						     [TPA_FLOW_ALL] = TPA_WAIT_AT_NXN,
						     [TPA_FLOW_FROM_ROOT] = TPA_WAIT_LATE_BROADCAST,
						     [TPA_FLOW_TO_ROOT] = TPA_WAIT_EARLY_REDUCE,
						     [TPA_FLOW_PREFIX] = TPA_WAIT_EARLY_SCAN,
						     [TPA_FLOW_NEIGHBOURS] = TPA_WAIT_FOR_NEIGHBOURS,
						     [TPA_FLOW_PARTS] = TPA_WAIT_AT_NXN };

	return patterns[op->flow];
}

/* The op waits until `cause` posts, or until it ends. */
static void wait_for(struct tpa_ranks *ranks, struct tpa_rank_op *op, uint32_t cause)
{
	int64_t until = ranks->ops[cause].post;

	if (op->open || &ranks->ops[cause] == op)
		return;
	until = until < op->end ? until : op->end;
	if (until <= op->begin)
		return;
	op->wait_ns = until - op->begin;
	op->cause = cause;
}

static uint32_t later(const struct tpa_ranks *ranks, uint32_t a, uint32_t b)
{
	return a == TPA_RANK_NONE || ranks->ops[b].post > ranks->ops[a].post ? b : a;
}

static void wait_in_collective(struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	uint32_t last = TPA_RANK_NONE, last_below = TPA_RANK_NONE;
	bool none = has_no_bytes(ranks, group);

	for (uint32_t i = 0; i < group->count; i++)
		if (is_awaited(member(ranks, group, i), none))
			last = later(ranks, last, ranks->members[group->first + i]);
	for (uint32_t i = 0; i < group->count; i++) {
		struct tpa_rank_op *op = member(ranks, group, i);
		uint32_t cause = op->flow == TPA_FLOW_PREFIX ? last_below : last;

		if (cause != TPA_RANK_NONE && waits(op, none))
			wait_for(ranks, op, cause);
		if (is_awaited(op, none))
			last_below = later(ranks, last_below, ranks->members[group->first + i]);
	}
}

static void wait_for_sources(struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		struct tpa_rank_op *op = member(ranks, group, i);
		uint32_t cause = op->received ? tpa_sources_last(ranks, group, op) : TPA_RANK_NONE;

		if (cause != TPA_RANK_NONE)
			wait_for(ranks, op, cause);
	}
}

static bool has_sources(const struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	uint8_t flow = member(ranks, group, 0)->flow;

	return flow == TPA_FLOW_NEIGHBOURS || flow == TPA_FLOW_PARTS;
}

/* A send that ended before the receiver was there did not wait for it. */
static void wait_in_message(struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	uint32_t sender = ranks->members[group->first], receiver = ranks->members[group->first + 1];

	wait_for(ranks, &ranks->ops[receiver], sender);
	if (ranks->ops[sender].end > ranks->ops[receiver].post)
		wait_for(ranks, &ranks->ops[sender], receiver);
}

static int64_t wait_for_late(const struct tpa_ranks *ranks, const struct tpa_rank_match *group, uint32_t late)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < group->count; i++)
		sum += member(ranks, group, i)->cause == late ? member(ranks, group, i)->wait_ns : 0;
	return sum;
}

/* In a scan, or among neighbours, ranks wait for different ones. */
static void find_late(struct tpa_ranks *ranks, struct tpa_rank_match *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		uint32_t cause = member(ranks, group, i)->cause;
		int64_t wait;

		if (cause == TPA_RANK_NONE || cause == group->late)
			continue;
		wait = wait_for_late(ranks, group, cause);
		if (wait > group->late_wait_ns) {
			group->late = cause;
			group->late_wait_ns = wait;
		}
	}
}

static enum tpa_wait_pattern pattern_in(const struct tpa_rank_match *group, const struct tpa_rank_op *op)
{
	if (!group->message)
		return pattern_of(op);
	return op->kind == TPA_COMM_RECEIVE ? TPA_WAIT_LATE_SENDER : TPA_WAIT_LATE_RECEIVER;
}

static void sum_up(struct tpa_ranks *ranks, struct tpa_rank_match *group)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct tpa_rank_op *op = member(ranks, group, i);

		group->wait_ns += op->wait_ns;
		group->transfer_ns += tpa_rank_op_transfer(op);
		ranks->wait_by[pattern_in(group, op)] += op->wait_ns;
		if (op->wait_ns > most) {
			most = op->wait_ns;
			group->pattern = (uint8_t)pattern_in(group, op);
		}
	}
}

/*
 * The late rank comes by as much earlier as what it did since its last collective exceeds the others' median. The group then ends
 * earlier by that, or by how far the late rank is behind the next one.
 */
static void find_gain(struct tpa_ranks *ranks, struct tpa_rank_match *group, double *took)
{
	const struct tpa_rank_op *late = group->late == TPA_RANK_NONE ? NULL : &ranks->ops[group->late];
	int64_t next = INT64_MIN, longest = 0, excess;
	size_t count = 0;
	bool none = has_no_bytes(ranks, group), sources = has_sources(ranks, group);

	for (uint32_t i = 0; late && i < group->count; i++) {
		const struct tpa_rank_op *op = member(ranks, group, i);

		if (op == late)
			continue;
		longest = op->cause == group->late && op->wait_ns > longest ? op->wait_ns : longest;
		took[count++] = (double)(op->post - op->since);
		if ((is_awaited(op, none) || (sources && op->sent)) && op->post > next)
			next = op->post;
	}
	if (!count || group->message)
		return;
	excess = late->post - late->since - (int64_t)tpa_median(took, count);
	if (next != INT64_MIN && late->post - next < excess)
		excess = late->post - next;
	excess = excess < longest ? excess : longest;
	group->gain_ns = excess > 0 ? excess : 0;
}

static int compare_times(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return TPA_UP(*a, *b);
}

/*
 * Waiting in messages is not what a rank did. Collectives that were started before are over later than others begin: what a rank does
 * between those is no less what it did. `ends` has room for each operation of the rank.
 */
static void find_since(struct tpa_ranks *ranks, const struct tpa_rank *rank, int64_t *ends)
{
	int64_t since = rank->start;
	size_t count = 0, next = 0;

	for (uint32_t i = 0; i < rank->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[rank->first + i];

		if (op->kind == TPA_COMM_COLLECTIVE && !op->open)
			ends[count++] = op->end;
	}
	qsort(ends, count, sizeof(*ends), compare_times);
	for (uint32_t i = 0; i < rank->count; i++) {
		struct tpa_rank_op *op = &ranks->ops[rank->first + i];

		for (; next < count && ends[next] <= op->post; next++)
			since = ends[next] > since ? ends[next] : since;
		op->since = since < op->post ? since : op->post;
	}
}

/* ---- ops of one call ---- */

/* An op by the call in which it may have waited. */
struct in_call {
	int64_t begin, end, wait_ns;
	uint32_t thread, op;
};

static int compare_calls(const void *left, const void *right)
{
	const struct in_call *a = left, *b = right;

	return TPA_UP(a->thread, b->thread) ?: TPA_UP(a->begin, b->begin) ?: TPA_UP(a->end, b->end) ?:
	       TPA_DOWN(a->wait_ns, b->wait_ns) ?: TPA_UP(a->op, b->op);
}

/* A call that waits for several waits for the one that comes last. So its time counts once, for the op that waited longest. */
static void count_once(struct tpa_ranks *ranks, const struct tpa_rank *rank, struct in_call *list)
{
	size_t count = 0;

	for (uint32_t i = rank->first; i < rank->first + rank->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[i];

		if (op->end > op->begin)
			list[count++] = (struct in_call){ .begin = op->begin,
							  .end = op->end,
							  .wait_ns = op->wait_ns,
							  .thread = rank->said->calls[op->call].thread,
							  .op = i };
	}
	qsort(list, count, sizeof(*list), compare_calls);
	for (size_t i = 1; i < count; i++) {
		struct tpa_rank_op *op = &ranks->ops[list[i].op];

		if (list[i].thread != list[i - 1].thread || list[i].begin != list[i - 1].begin ||
		    list[i].end != list[i - 1].end)
			continue;
		op->counted = true;
		op->wait_ns = 0;
		op->cause = TPA_RANK_NONE;
	}
}

static void find_waits(struct tpa_ranks *ranks)
{
	struct in_call *list = tpa_zalloc(ranks->op_count + 1, sizeof(*list));

	for (size_t i = 0; i < ranks->group_count; i++) {
		if (ranks->groups[i].message)
			wait_in_message(ranks, &ranks->groups[i]);
		else if (has_sources(ranks, &ranks->groups[i]))
			wait_for_sources(ranks, &ranks->groups[i]);
		else
			wait_in_collective(ranks, &ranks->groups[i]);
	}
	for (size_t i = 0; i < ranks->count; i++)
		count_once(ranks, &ranks->list[i], list);
	free(list);
}

void tpa_waits_find(struct tpa_ranks *ranks)
{
	double *took = tpa_zalloc(ranks->op_count + 1, sizeof(*took));
	int64_t *ends = tpa_zalloc(ranks->op_count + 1, sizeof(*ends));

	for (size_t i = 0; i < ranks->count; i++)
		find_since(ranks, &ranks->list[i], ends);
	free(ends);
	find_waits(ranks);
	for (size_t i = 0; i < ranks->group_count; i++) {
		struct tpa_rank_match *group = &ranks->groups[i];

		find_late(ranks, group);
		sum_up(ranks, group);
		find_gain(ranks, group, took);
	}
	free(took);
}
