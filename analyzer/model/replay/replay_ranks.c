/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's calls that communicate with others of a parallel job, for model/ranks. They are kept only where the options ask for
 * them, as there may be millions; otherwise they are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "model/ranks/job.h"
#include "model/replay/replay_impl.h"

/* The innermost open op of the thread; NULL: none. */
static const struct tpa_op_frame *innermost(const struct tpa_thread_state *thread)
{
	return thread->open.count ? &thread->open.frames[thread->open.count - 1] : NULL;
}

/* ---- what the format's words mean ---- */

static const struct {
	uint8_t kind, flow; /* enum tpa_comm_kind, enum tpa_comm_flow */
	bool rooted;
} meanings[] = {
	[TPROF_COMM_BARRIER] = { TPA_COMM_COLLECTIVE, TPA_FLOW_BARRIER, false },
	[TPROF_COMM_BCAST] = { TPA_COMM_COLLECTIVE, TPA_FLOW_FROM_ROOT, true },
	[TPROF_COMM_REDUCE] = { TPA_COMM_COLLECTIVE, TPA_FLOW_TO_ROOT, true },
	[TPROF_COMM_ALLREDUCE] = { TPA_COMM_COLLECTIVE, TPA_FLOW_ALL, false },
	[TPROF_COMM_GATHER] = { TPA_COMM_COLLECTIVE, TPA_FLOW_TO_ROOT, true },
	[TPROF_COMM_SCATTER] = { TPA_COMM_COLLECTIVE, TPA_FLOW_FROM_ROOT, true },
	[TPROF_COMM_ALLGATHER] = { TPA_COMM_COLLECTIVE, TPA_FLOW_ALL, false },
	[TPROF_COMM_ALLTOALL] = { TPA_COMM_COLLECTIVE, TPA_FLOW_ALL, false },
	[TPROF_COMM_REDUCE_SCATTER] = { TPA_COMM_COLLECTIVE, TPA_FLOW_ALL, false },
	[TPROF_COMM_SCAN] = { TPA_COMM_COLLECTIVE, TPA_FLOW_PREFIX, false },
	[TPROF_COMM_EXSCAN] = { TPA_COMM_COLLECTIVE, TPA_FLOW_PREFIX, false },
	[TPROF_COMM_NEIGHBOR_ALLGATHER] = { TPA_COMM_COLLECTIVE, TPA_FLOW_NEIGHBOURS, false },
	[TPROF_COMM_NEIGHBOR_ALLTOALL] = { TPA_COMM_COLLECTIVE, TPA_FLOW_NEIGHBOURS, false },
	[TPROF_COMM_CREATE] = { TPA_COMM_CREATE, TPA_FLOW_BARRIER, false },
	[TPROF_COMM_FREE] = { TPA_COMM_COLLECTIVE, TPA_FLOW_NONE, false },
	[TPROF_COMM_FENCE] = { TPA_COMM_COLLECTIVE, TPA_FLOW_BARRIER, false },
	[TPROF_COMM_FINALIZE] = { TPA_COMM_COLLECTIVE, TPA_FLOW_BARRIER, false },
	[TPROF_COMM_SEND] = { TPA_COMM_SEND, TPA_FLOW_NONE, false },
	[TPROF_COMM_SSEND] = { TPA_COMM_SEND, TPA_FLOW_NONE, false },
	[TPROF_COMM_BSEND] = { TPA_COMM_SEND, TPA_FLOW_NONE, false },
	[TPROF_COMM_RSEND] = { TPA_COMM_SEND, TPA_FLOW_NONE, false },
	[TPROF_COMM_RECV] = { TPA_COMM_RECEIVE, TPA_FLOW_NONE, false },
	[TPROF_COMM_SENDRECV] = { TPA_COMM_SEND, TPA_FLOW_NONE, false },
	[TPROF_COMM_PUT] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_GET] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_ACCUMULATE] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_LOCK] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_UNLOCK] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_FLUSH] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_POST] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_START] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_COMPLETE] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
	[TPROF_COMM_WIN_WAIT] = { TPA_COMM_ONE_SIDED, TPA_FLOW_NONE, false },
};

/* MPI_Init meets nobody that is known yet; of probes and waits others tell more. */
static bool is_call(uint8_t what)
{
	return what && what < sizeof(meanings) / sizeof(*meanings) && what != TPROF_COMM_INIT &&
	       what != TPROF_COMM_PROBE && what != TPROF_COMM_WAIT && what != TPROF_COMM_TEST &&
	       (what < TPROF_COMM_COLLECTIVES || meanings[what].kind != TPA_COMM_COLLECTIVE);
}

/* Peers in an intercommunicator are ranks of others, who are not known. */
static uint32_t communicator_of(const struct tpa_replay *replay, uint32_t number)
{
	const struct tpa_trace *trace = replay->trace;

	if (!number || number >= trace->group_count || !trace->groups[number].name ||
	    trace->groups[number].kind == TPROF_GROUP_INTER)
		return TPA_COMM_UNKNOWN;
	return number - 1;
}

/* ---- calls ---- */

static struct tpa_comm_call *add_call(struct tpa_replay *replay, const struct tpa_thread_state *thread,
				      const struct tpa_event *event)
{
	struct tpa_part_ranks *ranks = &replay->ranks;
	const struct tpa_op_frame *op = innermost(thread);
	struct tpa_comm_call *call = TPA_APPEND(ranks->calls, ranks->count, ranks->room);

	*call = (struct tpa_comm_call){ .thread = event->thread,
					.communicator = TPA_COMM_UNKNOWN,
					.step = (uint32_t)replay->steps.steps.ended,
					.peer = TPROF_COMM_ANY,
					.tag = TPROF_COMM_ANY,
					.root = TPROF_COMM_ANY };
	call->begin = op ? op->begin_ticks : tpa_replay_ticks(replay, event->time);
	call->op = op ? op->op : 0;
	if (op)
		*TPA_APPEND(ranks->open, ranks->open_count, ranks->open_room) = (struct tpa_open_call){
			.call = ranks->count - 1, .thread = event->thread, .depth = thread->open.count
		};
	else
		call->end = call->begin;
	return call;
}

/* The receiving half of a call that does both. */
static void add_receive(struct tpa_replay *replay, const struct tpa_thread_state *thread, const struct tpa_event *event)
{
	const struct tpa_comm *comm = event->comm;
	struct tpa_comm_call *call;

	if (comm->source == TPROF_COMM_NOBODY)
		return;
	call = add_call(replay, thread, event);
	call->kind = TPA_COMM_RECEIVE;
	call->phase = comm->begins ? TPA_PHASE_START : TPA_PHASE_WHOLE;
	call->communicator = communicator_of(replay, comm->communicator);
	call->peer = comm->source;
	call->tag = comm->source_tag;
	call->received = comm->received;
	call->request = comm->request;
	call->stack = tpa_event_node(replay->trace, event);
}

/* Where the part's bits are kept, once for all calls with the same ones. */
static uint32_t keep_parts(struct tpa_part_ranks *ranks, const struct tpa_comm *comm)
{
	uint64_t hash = tpa_hash_bytes(TPA_HASH_BEGIN, comm->part_bits, comm->part_bytes);
	uint32_t *place;
	bool found;

	if (!comm->parts)
		return TPA_PARTS_ALL;
	if (!comm->part_bytes || ranks->part_bytes > UINT32_MAX / 2)
		return TPA_PARTS_UNKNOWN;
	place = tpa_pairs_at(&ranks->parts_at, hash, comm->part_bytes, &found);
	if (found && memcmp(ranks->parts + *place, comm->part_bits, comm->part_bytes) == 0)
		return *place;
	tpa_grow(&ranks->parts, &ranks->part_room, ranks->part_bytes + 1u + comm->part_bytes, 1);
	ranks->parts[ranks->part_bytes] = comm->part_bytes;
	memcpy(ranks->parts + ranks->part_bytes + 1, comm->part_bits, comm->part_bytes);
	*place = (uint32_t)ranks->part_bytes + 1;
	ranks->part_bytes += 1u + comm->part_bytes;
	return *place;
}

static void add_comm(struct tpa_replay *replay, const struct tpa_thread_state *thread, const struct tpa_event *event)
{
	const struct tpa_comm *comm = event->comm;
	struct tpa_comm_call *call = add_call(replay, thread, event);

	call->kind = meanings[comm->what].kind;
	call->flow = meanings[comm->what].flow;
	call->phase = comm->begins ? TPA_PHASE_START : TPA_PHASE_WHOLE;
	call->communicator = communicator_of(replay, comm->communicator);
	call->sequence = comm->sequence;
	if (meanings[comm->what].rooted)
		call->root = comm->peer;
	else
		call->peer = comm->peer;
	call->tag = comm->tag;
	call->sent = comm->sent;
	call->received = comm->both ? 0 : comm->received;
	call->parts = keep_parts(&replay->ranks, comm);
	call->request = comm->request;
	call->stack = tpa_event_node(replay->trace, event);
}

/* A request is found again by its number once it is complete. */
static void note_request(struct tpa_replay *replay, uint64_t request)
{
	if (request && replay->ranks.count < UINT32_MAX)
		tpa_pairs_set(&replay->ranks.requests, request, 0, (uint32_t)replay->ranks.count);
}

void tpa_replay_comm(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	const struct tpa_comm *comm = event->comm;

	tpa_replay_charge(replay, thread, event);
	if (!comm || !is_call(comm->what) || !tpa_replay_counts(replay, event))
		return;
	if (!replay->options->ranks) {
		replay->ranks.counted++;
		return;
	}
	if (comm->what < TPROF_COMM_COLLECTIVES || comm->peer != TPROF_COMM_NOBODY)
		add_comm(replay, thread, event);
	if (comm->both)
		add_receive(replay, thread, event);
	note_request(replay, comm->request);
}

/* ---- ends ---- */

/* What was received tells who sent it. */
static void take_status(struct tpa_comm_call *call, const struct tpa_comm_done *done)
{
	if (!done->status || call->kind != TPA_COMM_RECEIVE)
		return;
	call->peer = done->source;
	call->tag = done->tag;
	call->received = done->bytes;
}

/* The call that the thread's innermost op is, which has just received a message. */
static void end_call(struct tpa_replay *replay, const struct tpa_event *event)
{
	const struct tpa_part_ranks *ranks = &replay->ranks;

	for (size_t i = ranks->open_count; i-- > 0;) {
		if (ranks->open[i].thread == event->thread) {
			take_status(&ranks->calls[ranks->open[i].call], event->comm_done);
			return;
		}
	}
}

static void end_request(struct tpa_replay *replay, const struct tpa_thread_state *thread, const struct tpa_event *event)
{
	const struct tpa_comm_done *done = event->comm_done;
	uint32_t number = tpa_pairs_find(&replay->ranks.requests, done->request, 0);
	struct tpa_comm_call *wait;

	if (number)
		take_status(&replay->ranks.calls[number - 1], done);
	if (done->freed)
		return;
	wait = add_call(replay, thread, event);
	wait->kind = TPA_COMM_WAIT;
	wait->request = done->request;
}

void tpa_replay_comm_done(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);

	tpa_replay_charge(replay, thread, event);
	if (!event->comm_done || !replay->options->ranks || !tpa_replay_counts(replay, event))
		return;
	if (event->comm_done->request)
		end_request(replay, thread, event);
	else
		end_call(replay, event);
}

/* The thread has ended ops, down to so many that are open: with them end the calls that they were. */
void tpa_replay_calls_end(struct tpa_replay *replay, const struct tpa_thread_state *thread,
			  const struct tpa_event *event)
{
	struct tpa_part_ranks *ranks = &replay->ranks;
	size_t kept = 0;

	for (size_t i = 0; i < ranks->open_count; i++) {
		struct tpa_open_call *open = &ranks->open[i];

		if (open->thread == event->thread && open->depth > thread->open.count)
			ranks->calls[open->call].end = tpa_replay_ticks(replay, event->time);
		else
			ranks->open[kept++] = *open;
	}
	ranks->open_count = kept;
}

/* ---- the result ---- */

/* Requests that one call starts are numbered in its order. */
static int by_begin(const void *a, const void *b)
{
	const struct tpa_comm_call *x = a, *y = b;

	return TPA_UP(x->begin, y->begin)
		       ?: TPA_UP(x->thread, y->thread)
		       ?: TPA_UP(x->request, y->request)
		       ?: TPA_UP(x->kind, y->kind);
}

static uint64_t unix_ns(const struct tpa_replay *replay, uint64_t ticks)
{
	return replay->trace->header->start.unix_ns + tpa_trace_ns(replay->trace, ticks);
}

static void look_at_calls(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_part_ranks *ranks = &replay->ranks;

	for (size_t i = 0; i < ranks->open_count; i++) /* they did not end */
		ranks->calls[ranks->open[i].call].end = tpa_replay_ticks(replay, replay->last);
	for (size_t i = 0; i < ranks->count; i++) {
		struct tpa_comm_call *call = &ranks->calls[i];

		call->begin = unix_ns(replay, call->begin);
		call->end = unix_ns(replay, call->end);
		call->end = call->end < call->begin ? call->begin : call->end;
		call->step = process->steps.count ? call->step + 1 : 0;
	}
	if (ranks->count)
		qsort(ranks->calls, ranks->count, sizeof(*ranks->calls), by_begin);
	process->ranks.calls = ranks->calls;
	process->ranks.call_count = ranks->count;
	process->ranks.lost = ranks->counted;
	process->ranks.parts = ranks->parts;
	process->ranks.part_bytes = ranks->part_bytes;
	ranks->calls = NULL;
	ranks->count = 0;
	ranks->parts = NULL;
	ranks->part_bytes = 0;
}

static void look_at_communicators(const struct tpa_trace *trace, struct tpa_rank_process *to)
{
	if (trace->group_count < 2)
		return;
	to->communicator_count = trace->group_count - 1;
	to->communicators = tpa_zalloc(to->communicator_count, sizeof(*to->communicators));
	for (size_t i = 0; i < to->communicator_count; i++) {
		const struct tpa_known_group *group = &trace->groups[i + 1];

		to->communicators[i] =
			(struct tpa_communicator){ .size = group->size,
						   .rank = group->rank,
						   .parent = group->parent ? group->parent - 1 : TPA_COMM_UNKNOWN,
						   .parent_sequence = group->parent_sequence,
						   .color = group->leader,
						   .name = group->name && group->name[0] ? group->name : NULL,
						   .sources = group->source_ranks,
						   .source_count = group->sources };
	}
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	tpa_job_read(replay->trace, &process->ranks);
	if (!replay->options->ranks)
		return;
	look_at_calls(replay, process);
	look_at_communicators(replay->trace, &process->ranks);
}

/* A state that was saved without calls knows how many there were: these are lost to one that wants them. */
static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	struct tpa_part_ranks *ranks = &replay->ranks;
	bool kept = replay->options->ranks;

	TPA_ARCHIVE(to, ranks->counted);
	TPA_ARCHIVE(to, kept);
	if (!kept)
		return;
	tpa_archive_array(to, &ranks->calls, &ranks->count, &ranks->room, sizeof(*ranks->calls));
	tpa_archive_array(to, &ranks->parts, &ranks->part_bytes, &ranks->part_room, 1);
	tpa_archive_array(to, &ranks->open, &ranks->open_count, &ranks->open_room, sizeof(*ranks->open));
	for (size_t i = 0; i < ranks->count; i++) {
		tpa_archive_node(to, &ranks->calls[i].stack);
		tpa_archive_op(to, &ranks->calls[i].op);
	}
	for (size_t i = 0; i < ranks->open_count; i++)
		tpa_archive_check(to, ranks->open[i].call < ranks->count, "an open call that is not there");
	for (size_t i = 0; to->loading && i < ranks->count; i++)
		if (ranks->calls[i].request && ranks->calls[i].kind != TPA_COMM_WAIT)
			tpa_pairs_set(&ranks->requests, ranks->calls[i].request, 0, (uint32_t)i + 1);
}

static void free_part(struct tpa_replay *replay)
{
	free(replay->ranks.calls);
	free(replay->ranks.open);
	free(replay->ranks.parts);
	tpa_pairs_free(&replay->ranks.parts_at);
	tpa_pairs_free(&replay->ranks.requests);
}

const struct tpa_part tpa_part_ranks = { .archive = archive, .look = look, .free = free_part };
