/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/match.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

/* An operation by what partners have in common. */
struct key {
	uint32_t op, communicator;
	uint64_t sequence; /* of a message: the number of the operation */
	int32_t source, destination, tag;
	uint32_t place;
};

static int compare_collectives(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	return TPA_UP(a->communicator, b->communicator) ?: TPA_UP(a->sequence, b->sequence) ?:
	       TPA_UP(a->place, b->place) ?: TPA_UP(a->op, b->op);
}

static int compare_messages(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	return TPA_UP(a->communicator, b->communicator) ?: TPA_UP(a->source, b->source) ?:
	       TPA_UP(a->destination, b->destination) ?: TPA_UP(a->tag, b->tag) ?: TPA_UP(a->op, b->op);
}

static bool is_one_collective(const struct key *a, const struct key *b)
{
	return a->communicator == b->communicator && a->sequence == b->sequence;
}

static bool is_one_way(const struct key *a, const struct key *b)
{
	return a->communicator == b->communicator && a->source == b->source && a->destination == b->destination &&
	       a->tag == b->tag;
}

struct matching {
	struct tpa_ranks *ranks;
	size_t room; /* of the groups */
	uint32_t member_count;
};

static struct tpa_rank_match *add_group(struct matching *matching, uint32_t communicator)
{
	struct tpa_ranks *ranks = matching->ranks;
	struct tpa_rank_match *group = TPA_APPEND(ranks->groups, ranks->group_count, matching->room);

	*group = (struct tpa_rank_match){ .first = matching->member_count,
					  .communicator = communicator,
					  .late = TPA_RANK_NONE };
	return group;
}

static void add_member(struct matching *matching, struct tpa_rank_match *group, uint32_t op)
{
	struct tpa_ranks *ranks = matching->ranks;

	ranks->members[matching->member_count++] = op;
	ranks->ops[op].group = (uint32_t)(group - ranks->groups);
	group->count++;
}

static bool has_parts(const struct tpa_ranks *ranks, const struct tpa_rank_match *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[ranks->members[group->first + i]];

		if (ranks->list[op->rank].said->calls[op->call].parts != TPA_PARTS_ALL)
			return true;
	}
	return false;
}

static void set_flow(struct tpa_ranks *ranks, const struct tpa_rank_match *group, enum tpa_comm_flow flow)
{
	for (uint32_t i = 0; i < group->count; i++)
		ranks->ops[ranks->members[group->first + i]].flow = (uint8_t)flow;
}

static void match_collective(struct matching *matching, const struct key *keys, size_t count)
{
	struct tpa_ranks *ranks = matching->ranks;
	struct tpa_rank_match *group = add_group(matching, keys->communicator);
	uint8_t flow = ranks->ops[keys->op].flow;
	bool agree = true;

	for (size_t i = 0; i < count; i++) {
		/* A rank has one operation of each number. What says otherwise is damaged, or another program of the job. */
		if (i && keys[i].place == keys[i - 1].place) {
			ranks->unmatched++;
			ranks->list[ranks->ops[keys[i].op].rank].unmatched++;
			continue;
		}
		agree = agree && ranks->ops[keys[i].op].flow == flow;
		add_member(matching, group, keys[i].op);
	}
	group->incomplete = group->count < ranks->communicators[keys->communicator].size;
	ranks->collectives++;
	ranks->incomplete += group->incomplete;
	ranks->disagreeing += !agree;
	/* Who waits for whom is not known then. */
	if (!agree)
		set_flow(ranks, group, TPA_FLOW_NONE);
	else if (flow == TPA_FLOW_ALL && has_parts(ranks, group))
		set_flow(ranks, group, TPA_FLOW_PARTS);
}

static void match_collectives(struct matching *matching, struct key *keys, size_t count)
{
	size_t next;

	qsort(keys, count, sizeof(*keys), compare_collectives);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && is_one_collective(&keys[i], &keys[next]);)
			next++;
		match_collective(matching, keys + i, next - i);
	}
}

/* `keys` are all of one way: pairs the n-th that was sent with the n-th that was received. */
static void match_way(struct matching *matching, const struct key *keys, size_t count)
{
	struct tpa_ranks *ranks = matching->ranks;
	size_t sent = 0, received = 0;

	for (;;) {
		struct tpa_rank_match *group;

		while (sent < count && ranks->ops[keys[sent].op].kind != TPA_COMM_SEND)
			sent++;
		while (received < count && ranks->ops[keys[received].op].kind != TPA_COMM_RECEIVE)
			received++;
		if (sent == count || received == count)
			break;
		group = add_group(matching, keys->communicator);
		group->message = true;
		add_member(matching, group, keys[sent++].op);
		add_member(matching, group, keys[received++].op);
		ranks->messages++;
	}
	for (size_t i = 0; i < count; i++)
		if (ranks->ops[keys[i].op].group == TPA_RANK_NONE) {
			ranks->unmatched++;
			ranks->list[ranks->ops[keys[i].op].rank].unmatched++;
		}
}

static void match_messages(struct matching *matching, struct key *keys, size_t count)
{
	size_t next;

	qsort(keys, count, sizeof(*keys), compare_messages);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && is_one_way(&keys[i], &keys[next]);)
			next++;
		match_way(matching, keys + i, next - i);
	}
}

static struct key key_of(const struct tpa_rank_op *op, uint32_t index)
{
	bool sends = op->kind == TPA_COMM_SEND;

	return (struct key){ .op = index,
			     .communicator = op->communicator,
			     .sequence = op->sequence,
			     .source = sends ? (int32_t)op->place : op->peer,
			     .destination = sends ? op->peer : (int32_t)op->place,
			     .tag = op->tag,
			     .place = op->place };
}

static bool is_matchable(const struct tpa_rank_op *op)
{
	bool message = op->kind == TPA_COMM_SEND || op->kind == TPA_COMM_RECEIVE;

	return op->communicator != TPA_RANK_NONE && (op->kind == TPA_COMM_COLLECTIVE || (message && op->peer >= 0));
}

/* Some have none by what they are: MPI_Init, one-sided accesses, messages to nobody. */
static bool has_partner(const struct tpa_rank_op *op)
{
	return op->kind == TPA_COMM_COLLECTIVE ? op->sequence > 0
					       : op->kind != TPA_COMM_ONE_SIDED && op->peer != TPA_PEER_NOBODY;
}

void tpa_ranks_match(struct tpa_ranks *ranks)
{
	struct key *keys = tpa_zalloc(ranks->op_count + 1, sizeof(*keys));
	struct matching matching = { .ranks = ranks };
	size_t collectives = 0, messages = ranks->op_count;

	ranks->members = tpa_zalloc(ranks->op_count + 1, sizeof(*ranks->members));
	for (size_t i = 0; i < ranks->op_count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[i];

		if (!has_partner(op))
			continue;
		if (!is_matchable(op)) {
			ranks->unmatched++;
			ranks->list[op->rank].unmatched++;
		} else if (op->kind == TPA_COMM_COLLECTIVE) {
			keys[collectives++] = key_of(op, (uint32_t)i);
		} else {
			keys[--messages] = key_of(op, (uint32_t)i);
		}
	}
	match_collectives(&matching, keys, collectives);
	match_messages(&matching, keys + messages, ranks->op_count - messages);
	free(keys);
}
