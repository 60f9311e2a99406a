/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what calls of MPI ask for and complete. Between the program's call and the library's function nothing is in vector
 * registers: no function of MPI takes or returns a floating-point number, except for MPI_Wtime and MPI_Wtick.
 */
#include "hooks/ops/presets/mpi_record.h"

#include <errno.h>

#include "hooks/gate/enter.h"
#include "hooks/ops/presets/mpi_arguments.h"

static struct tpc_mpi_call call_of(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks)
{
	return (struct tpc_mpi_call){ .row = signature->about,
				      .frame = frame,
				      .space = TPC_OP_SPACE((uintptr_t *)(uintptr_t)frame),
				      .thread = tpc_self,
				      .ticks = ticks,
				      .form = signature->way >> TPC_MPI_FORM_SHIFT,
				      .way = signature->way };
}

void tpc_mpi_emit(const struct tpc_mpi_call *call, struct tpc_comm *comm)
{
	comm->node = tpc_caller_stack(call->thread, call->frame);
	tpc_emit_comm(call->thread, call->ticks, comm);
}

static bool is_collective(const struct tpc_mpi_row *row)
{
	return row->what < TPROF_COMM_COLLECTIVES && row->what != TPROF_COMM_INIT && !row->apart;
}

/* Writes what a call asks of a group's members. Keeps the number that its end needs: that of its request, or in the sequence. */
static void emit_call(const struct tpc_mpi_call *call)
{
	struct tpc_group *group = tpc_mpi_group_of(call);
	struct tpc_comm comm;

	tpc_mpi_describe(call, group, &comm);
	if (group && is_collective(call->row))
		comm.sequence = tpc_group_next(group);
	if (call->form == TPC_MPI_NONBLOCKING) {
		comm.flags |= TPROF_COMM_NONBLOCKING;
		comm.request = tpc_request_number();
		call->space->key = comm.request;
	}
	call->space->number = comm.sequence;
	tpc_mpi_emit(call, &comm);
}

/* Receives a message that was probed: who sent it is known from there. */
static void emit_matched(const struct tpc_mpi_call *call)
{
	uint64_t key = tpc_mpi_key(call, tpc_mpi_raw_at(call, tpc_mpi_argument(call, call->row->made), 0));
	struct tpc_pending message;
	struct tpc_comm comm;

	tpc_mpi_describe(call, NULL, &comm);
	if (tpc_request_find(key, &message)) {
		tpc_request_remove(key, message.number);
		comm.group = message.comm.group;
		comm.peer = message.comm.peer;
		comm.tag = message.comm.tag;
	}
	if (call->form == TPC_MPI_NONBLOCKING) {
		comm.flags = TPROF_COMM_NONBLOCKING;
		call->space->key = comm.request = tpc_request_number();
	}
	tpc_mpi_emit(call, &comm);
}

static void begin(const struct tpc_mpi_call *call)
{
	switch (call->row->act) {
	case TPC_MPI_BEGIN:
		break;
	case TPC_MPI_END: {
		struct tpc_group *world = tpc_mpi_group(tpc_mpi_world());
		struct tpc_comm comm;

		tpc_mpi_describe(call, world, &comm);
		comm.sequence = world ? tpc_group_next(world) : 0;
		tpc_mpi_emit(call, &comm);
		break;
	}
	case TPC_MPI_FREE:
		emit_call(call);
		tpc_mpi_freed(call);
		break;
	case TPC_MPI_CALL:
	case TPC_MPI_MAKE:
		if (call->form != TPC_MPI_PERSISTENT)
			emit_call(call);
		break;
	case TPC_MPI_PROBE:
		if (!call->row->flag)
			emit_call(call);
		break;
	case TPC_MPI_MATCHED:
		emit_matched(call);
		break;
	default:
		tpc_mpi_requests_begun(call);
	}
}

void tpc_mpi_begun(const struct tpc_signature *signature, uintptr_t *frame)
{
	struct tpc_mpi_call call = call_of(signature, frame, 0);
	int error = errno;

	*call.space = (struct tpc_mpi_space){ .third = tpc_argument(frame, 2) };
	if (!tpc_load_acquire(&tpc_mpi_known)) /* pairs with tpc_mpi_find() */
		return;
	if (!call.thread->fold.frame) /* else it asks whether something is there, and writes nothing */
		call.ticks = call.thread->op_open[call.thread->op_depth - 1].start;
	begin(&call);
	errno = error;
}

/* ---- the call has returned ---- */

static void end_blocking(const struct tpc_mpi_call *call)
{
	struct tpc_comm_done done = { 0 };

	if (call->row->status && tpc_mpi_status_at(call, tpc_mpi_argument(call, call->row->status), &done))
		tpc_emit_comm_done(call->thread, call->ticks, &done);
}

static void add_request(const struct tpc_mpi_call *call)
{
	bool persistent = call->form == TPC_MPI_PERSISTENT;
	unsigned position = call->row->request + (persistent && call->row->info ? 1u : 0u);
	uint64_t key = tpc_mpi_key(call, tpc_mpi_raw_at(call, tpc_mpi_argument(call, position), 0));
	struct tpc_pending pending = { .comm = { .what = call->row->what } };

	if (persistent) {
		struct tpc_group *group = tpc_mpi_group_of(call);

		tpc_mpi_describe(call, group, &pending.comm);
		if (group && is_collective(call->row))
			pending.comm.sequence = tpc_group_next(group);
		pending.comm.flags |= TPROF_COMM_PERSISTENT;
	} else {
		pending.number = call->space->key;
	}
	if (!tpc_request_add(key, &pending))
		tpc_lost(TPROF_LOST_REQUESTS, 1);
}

static void end_probe(const struct tpc_mpi_call *call)
{
	const struct tpc_mpi_row *row = call->row;
	struct tpc_pending message = { .number = 1 };
	struct tpc_comm_done done = { 0 };
	uint64_t key;

	if (row->flag && !*(const int32_t *)tpc_mpi_argument(call, row->flag))
		return;
	if (row->flag)
		emit_call(call);
	end_blocking(call);
	if (!row->made)
		return;
	tpc_mpi_describe(call, tpc_mpi_group_of(call), &message.comm);
	if (tpc_mpi_status_at(call, tpc_mpi_argument(call, row->status), &done)) {
		message.comm.peer = done.source;
		message.comm.tag = done.tag;
	}
	key = tpc_mpi_key(call, tpc_mpi_raw_at(call, tpc_mpi_argument(call, row->made), 0));
	tpc_request_add(key, &message);
}

static void end_begin(const struct tpc_mpi_call *call)
{
	struct tpc_comm comm;

	tpc_mpi_describe(call, tpc_mpi_group(tpc_mpi_world()), &comm);
	tpc_mpi_group(tpc_mpi_self());
	tpc_mpi_emit(call, &comm);
}

static void end_call(const struct tpc_mpi_call *call, bool failed)
{
	switch (call->row->act) {
	case TPC_MPI_BEGIN:
		if (!failed)
			end_begin(call);
		break;
	case TPC_MPI_MAKE:
		if (!failed)
			tpc_mpi_made(call, call->space->number);
		if (!failed && call->form != TPC_MPI_PLAIN)
			add_request(call);
		break;
	case TPC_MPI_CALL:
	case TPC_MPI_MATCHED:
		if (!failed && call->form != TPC_MPI_PLAIN)
			add_request(call);
		else if (!failed)
			end_blocking(call);
		break;
	case TPC_MPI_PROBE:
		if (!failed)
			end_probe(call);
		break;
	case TPC_MPI_END:
	case TPC_MPI_FREE:
		break;
	default:
		tpc_mpi_requests_ended(call, failed);
	}
}

static bool has_failed(const struct tpc_mpi_call *call)
{
	return !tpc_mpi_is_fortran(call) && (int32_t)TPC_OP_RESULT(call->frame) != 0;
}

bool tpc_mpi_idle(const struct tpc_signature *signature, const uintptr_t *frame)
{
	struct tpc_mpi_call call = call_of(signature, frame, 0);
	uint8_t says = call.row->flag ? call.row->flag : call.row->made; /* the flag, or how many */

	/* What the library says is not looked at before it is known: begun() has not kept the third argument. */
	return !tpc_load_acquire(&tpc_mpi_known) ||
	       (!has_failed(&call) && *(const int32_t *)tpc_mpi_argument(&call, says) <= 0);
}

void tpc_mpi_ended(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks)
{
	struct tpc_mpi_call call = call_of(signature, frame, ticks);
	int error = errno;

	if (!tpc_load_acquire(&tpc_mpi_known))
		return;
	end_call(&call, has_failed(&call));
	errno = error;
}
