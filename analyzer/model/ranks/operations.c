/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/operations.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/pairs.h"

#define LATEST (INT64_MAX / 4) /* sums and differences of times do not overflow */

static bool is_sane(const struct tpa_comm_call *call)
{
	return call->begin <= call->end && call->end < LATEST && call->kind < TPA_COMM_KINDS && call->flow < TPA_FLOWS;
}

static struct tpa_rank_op op_of(const struct tpa_comm_call *call, int64_t moved)
{
	int64_t begin = (int64_t)call->begin + moved;
	bool started = call->phase == TPA_PHASE_START;

	return (struct tpa_rank_op){
		.post = begin,
		.begin = begin,
		.end = started ? begin : (int64_t)call->end + moved,
		.sent = call->sent,
		.received = call->received,
		.sequence = call->sequence,
		.communicator = TPA_RANK_NONE,
		.cause = TPA_RANK_NONE,
		.group = TPA_RANK_NONE,
		.step = call->step,
		.peer = call->peer,
		.tag = call->tag,
		.root = call->root,
		.kind = call->kind == TPA_COMM_CREATE ? TPA_COMM_COLLECTIVE : call->kind,
		.flow = call->flow,
		.started = started,
		.open = started,
	};
}

/* The end of a started operation is that of the call which completes it. */
static void complete(struct tpa_ranks *ranks, const struct tpa_pairs *requests, const struct tpa_comm_call *wait,
		     int64_t moved)
{
	uint32_t number = wait->request ? tpa_pairs_find(requests, wait->request, 0) : 0;
	struct tpa_rank_op *op = number ? &ranks->ops[number - 1] : NULL;

	if (!op || !op->open || (int64_t)wait->begin + moved < op->post)
		return;
	op->begin = (int64_t)wait->begin + moved;
	op->end = (int64_t)wait->end + moved;
	op->open = false;
	/* What a receive got is known at its end. */
	if (op->kind == TPA_COMM_RECEIVE && wait->peer >= 0) {
		op->peer = wait->peer;
		op->tag = wait->tag;
	}
}

static void make_of_rank(struct tpa_ranks *ranks, size_t *room, uint32_t index, const uint32_t *communicators)
{
	struct tpa_rank *rank = &ranks->list[index];
	const struct tpa_rank_process *said = rank->said;
	struct tpa_pairs requests = { 0 };

	rank->first = (uint32_t)ranks->op_count;
	for (size_t i = 0; i < said->call_count; i++) {
		const struct tpa_comm_call *call = &said->calls[i];
		struct tpa_rank_op *op;

		if (!is_sane(call)) {
			ranks->lost++;
			continue;
		}
		if (call->kind == TPA_COMM_WAIT) {
			complete(ranks, &requests, call, rank->moved);
			continue;
		}
		op = TPA_APPEND(ranks->ops, ranks->op_count, *room);
		*op = op_of(call, rank->moved);
		op->rank = index;
		op->call = (uint32_t)i;
		if (call->communicator < said->communicator_count) {
			op->communicator = communicators[call->communicator];
			op->place = said->communicators[call->communicator].rank;
		}
		if (op->started && call->request)
			tpa_pairs_set(&requests, call->request, 0, (uint32_t)ranks->op_count);
	}
	rank->count = (uint32_t)ranks->op_count - rank->first;
	ranks->lost += said->lost;
	tpa_pairs_free(&requests);
}

void tpa_operations_make(struct tpa_ranks *ranks, uint32_t *const *communicators)
{
	size_t room = 0;

	for (size_t i = 0; i < ranks->count; i++)
		make_of_rank(ranks, &room, (uint32_t)i, communicators[i]);
}
