/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that start requests, wait for them, or ask whether they are complete. */
#include "hooks/ops/presets/mpi_arguments.h"

/* Requests of a call, in thread->waits. A call within it that MPI itself makes may replace them: `owner` tells. */
struct waits {
	const uintptr_t *owner; /* frame of the call */
	struct wait {
		uint64_t key;
		uint64_t number; /* 0: not known */
		bool receives;
	} list[];
};
#define MOST ((uint32_t)((TPC_WAITS_BYTES - sizeof(struct waits)) / sizeof(struct wait)))

static struct waits *waits_of(const struct tpc_mpi_call *call)
{
	return (struct waits *)(void *)call->thread->waits;
}

static bool does_wait(const struct tpc_mpi_call *call)
{
	return call->row->what == TPROF_COMM_WAIT;
}

static struct wait find(uint64_t key)
{
	struct wait wait = { .key = key };
	struct tpc_pending pending;

	if (!key || !tpc_request_find(key, &pending))
		return (struct wait){ 0 };
	wait.number = pending.number;
	wait.receives = pending.comm.what == TPROF_COMM_RECV || pending.comm.what == TPROF_COMM_SENDRECV;
	return wait;
}

static struct wait look_up(const struct tpc_mpi_call *call, uintptr_t array, size_t i)
{
	return find(tpc_mpi_key(call, tpc_mpi_raw_at(call, array, i)));
}

/*
 * The call completes it. Requests that are complete at once have one handle, in this call and in other threads': if another one
 * has completed that with the number, any other of the handle will do.
 */
static bool complete(struct wait *wait)
{
	while (wait->number && !tpc_request_complete(wait->key, wait->number))
		*wait = find(wait->key);
	return wait->number != 0;
}

/* The call is about to return, or has returned, with that request complete. `status` 0: of none. */
static void tell(const struct tpc_mpi_call *call, struct wait wait, uintptr_t status, uint8_t flags)
{
	struct tpc_comm_done done = { .request = wait.number, .flags = flags };

	if (!wait.number)
		return;
	if (wait.receives && status)
		tpc_mpi_status_at(call, status, &done);
	tpc_emit_comm_done(call->thread, call->ticks, &done);
}

/* ---- they begin ---- */

static void start(const struct tpc_mpi_call *call, uintptr_t array, size_t i)
{
	struct tpc_pending pending;

	if (!tpc_request_start(tpc_mpi_key(call, tpc_mpi_raw_at(call, array, i)), &pending))
		return;
	pending.comm.request = pending.number;
	pending.comm.flags |= TPROF_COMM_NONBLOCKING;
	tpc_mpi_emit(call, &pending.comm);
}

static void drop(const struct tpc_mpi_call *call, uintptr_t array)
{
	struct wait wait = look_up(call, array, 0);

	if (!wait.key)
		return;
	tpc_request_remove(wait.key, wait.number);
	tell(call, wait, 0, TPROF_COMM_DONE_FREED);
}

/* Before the call: its handle may be used again by another thread as soon as it is complete. */
static void emit_wait(const struct tpc_mpi_call *call, uint64_t number)
{
	struct tpc_comm comm = { .what = TPROF_COMM_WAIT, .peer = TPROF_COMM_ANY, .tag = TPROF_COMM_ANY };

	comm.request = number;
	tpc_mpi_emit(call, &comm);
}

static void wait_for_one(const struct tpc_mpi_call *call, uintptr_t array)
{
	struct wait wait = look_up(call, array, 0);

	if (does_wait(call)) {
		complete(&wait);
		emit_wait(call, wait.number);
	}
	call->space->number = wait.number;
	call->space->key = wait.key;
	call->space->receives = wait.receives;
}

/* Of more requests than there is room for, those of MPI_Waitall are told without what they received, others not at all. */
static void wait_for_more(const struct tpc_mpi_call *call, uintptr_t array, int32_t count)
{
	bool all = does_wait(call) && call->row->act == TPC_MPI_WAITALL;

	for (int32_t i = (int32_t)MOST; all && i < count; i++) {
		struct wait wait = look_up(call, array, (size_t)i);

		if (complete(&wait))
			tell(call, wait, 0, 0);
	}
}

static void wait_for(const struct tpc_mpi_call *call, uintptr_t array, int32_t count)
{
	struct waits *waits = waits_of(call);
	uint32_t kept = count < 0 ? 0 : (uint32_t)count < MOST ? (uint32_t)count : MOST;

	waits->owner = call->frame;
	for (uint32_t i = 0; i < kept; i++) {
		waits->list[i] = look_up(call, array, i);
		if (does_wait(call) && call->row->act == TPC_MPI_WAITALL)
			complete(&waits->list[i]);
	}
	call->space->count = kept;
	if (does_wait(call))
		emit_wait(call, kept == 1 ? waits->list[0].number : 0);
	wait_for_more(call, array, count);
}

void tpc_mpi_requests_begun(const struct tpc_mpi_call *call)
{
	uintptr_t array = tpc_mpi_argument(call, call->row->request);
	int32_t count = call->row->request == 1 ? 1 : tpc_mpi_integer(call, 1);

	switch (call->row->act) {
	case TPC_MPI_START:
	case TPC_MPI_STARTALL:
		for (int32_t i = 0; i < count; i++)
			start(call, array, (size_t)i);
		break;
	case TPC_MPI_DROP:
		drop(call, array);
		break;
	case TPC_MPI_WAIT:
		wait_for_one(call, array);
		break;
	default:
		wait_for(call, array, count);
	}
}

/* ---- they end ---- */

static void end_one(const struct tpc_mpi_call *call)
{
	const struct tpc_mpi_space *space = call->space;
	struct wait wait = { .key = space->key, .number = space->number, .receives = space->receives };

	if (does_wait(call) || complete(&wait))
		tell(call, wait, tpc_mpi_argument(call, call->row->status), 0);
}

static uintptr_t status_of(uintptr_t statuses, size_t i)
{
	return tpc_mpi_is_ignored(statuses) ? 0 : statuses + i * TPC_MPI_STATUS_BYTES;
}

static void end_all(const struct tpc_mpi_call *call, struct wait *list)
{
	uintptr_t statuses = tpc_mpi_argument(call, call->row->status);

	for (uint32_t i = 0; i < call->space->count; i++) {
		if (does_wait(call) || complete(&list[i]))
			tell(call, list[i], status_of(statuses, i), 0);
	}
}

/* Fortran counts from 1. */
static void end_at(const struct tpc_mpi_call *call, struct wait *list, int32_t index, uintptr_t status)
{
	index -= tpc_mpi_is_fortran(call);
	if (index >= 0 && (uint32_t)index < call->space->count && complete(&list[index]))
		tell(call, list[index], status, 0);
}

static void end_some(const struct tpc_mpi_call *call, struct wait *list)
{
	const int32_t *count = (const int32_t *)tpc_mpi_argument(call, call->row->made);
	const int32_t *indices = (const int32_t *)tpc_mpi_argument(call, call->row->made + 1u);
	uintptr_t statuses = tpc_mpi_argument(call, call->row->status);

	for (int32_t i = 0; i < *count; i++)
		end_at(call, list, indices[i], status_of(statuses, (size_t)i));
}

static bool is_done(const struct tpc_mpi_call *call)
{
	return !call->row->flag || *(const int32_t *)tpc_mpi_argument(call, call->row->flag);
}

void tpc_mpi_requests_ended(const struct tpc_mpi_call *call, bool failed)
{
	struct waits *waits = waits_of(call);

	if (failed || !is_done(call))
		return;
	if (call->row->act == TPC_MPI_WAIT)
		end_one(call);
	else if (waits->owner != call->frame)
		return;
	else if (call->row->act == TPC_MPI_WAITALL)
		end_all(call, waits->list);
	else if (call->row->act == TPC_MPI_WAITANY)
		end_at(call, waits->list, *(const int32_t *)tpc_mpi_argument(call, call->row->made),
		       tpc_mpi_argument(call, call->row->status));
	else if (call->row->act == TPC_MPI_WAITSOME)
		end_some(call, waits->list);
}
