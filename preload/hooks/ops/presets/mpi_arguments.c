/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/mpi_arguments.h"

#define BYTES_MOST (UINT64_C(1) << 48) /* of a message: more is not believed */

static uint64_t product(int64_t count, uint64_t size)
{
	uint64_t bytes;

	return count > 0 && !__builtin_mul_overflow((uint64_t)count, size, &bytes) ? bytes : 0;
}

static uint64_t size_of(const struct tpc_mpi_call *call, uintptr_t raw)
{
	tpc_mpi_handle type = tpc_mpi_converted(call, raw, tpc_mpi.type_f2c);
	int64_t size = 0;

	if (!tpc_mpi_is_type(type) || tpc_mpi.type_size(type, &size) || size < 0)
		return 0;
	return (uint64_t)size;
}

/* So many counts in an array, all of one type. */
static uint64_t sum(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data, uint32_t members)
{
	uintptr_t counts = tpc_mpi_argument(call, data->count);
	uint64_t size = size_of(call, tpc_mpi_raw(call, data->type)), bytes = 0;

	for (uint32_t i = 0; i < members; i++)
		bytes += product(tpc_mpi_count_at(call, counts, i), size);
	return bytes;
}

static uint64_t sum_of_types(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data, uint32_t members)
{
	uintptr_t counts = tpc_mpi_argument(call, data->count), types = tpc_mpi_argument(call, data->type);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < members; i++)
		bytes += product(tpc_mpi_count_at(call, counts, i), size_of(call, tpc_mpi_raw_at(call, types, i)));
	return bytes;
}

static uint64_t of_one(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data)
{
	return product(tpc_mpi_count(call, data->count), size_of(call, tpc_mpi_raw(call, data->type)));
}

static uint64_t of_mine(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data, uint32_t rank)
{
	return product(tpc_mpi_count_at(call, tpc_mpi_argument(call, data->count), rank),
		       size_of(call, tpc_mpi_raw(call, data->type)));
}

/* How many members a collective's data is for. Of an intercommunicator they are the others, who are not known. */
static uint32_t members_of(const struct tpc_group *group)
{
	return group && group->kind != TPROF_GROUP_INTER ? group->size : 0;
}

static uint64_t bytes_of(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data,
			 const struct tpc_group *group)
{
	uint32_t in = group ? group->in : 0, out = group ? group->out : 0;

	switch (data->how) {
	case TPC_MPI_ONE:
		return of_one(call, data);
	case TPC_MPI_ELEMENT:
		return size_of(call, tpc_mpi_raw(call, data->type));
	case TPC_MPI_EACH:
		return of_one(call, data) * members_of(group);
	case TPC_MPI_COUNTS:
		return sum(call, data, members_of(group));
	case TPC_MPI_TYPES:
		return sum_of_types(call, data, members_of(group));
	case TPC_MPI_MINE:
		return members_of(group) ? of_mine(call, data, group->rank) : 0;
	case TPC_MPI_OUT:
		return of_one(call, data) * out;
	case TPC_MPI_IN:
		return of_one(call, data) * in;
	case TPC_MPI_OUT_COUNTS:
		return sum(call, data, out);
	case TPC_MPI_IN_COUNTS:
		return sum(call, data, in);
	case TPC_MPI_OUT_TYPES:
		return sum_of_types(call, data, out);
	case TPC_MPI_IN_TYPES:
		return sum_of_types(call, data, in);
	default:
		return 0;
	}
}

static uint64_t data_bytes(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data,
			   const struct tpc_group *group, int32_t root)
{
	bool at_root = group && root == (int32_t)group->rank;

	if ((data->where == TPC_MPI_AT_ROOT && !at_root) || (data->where == TPC_MPI_NOT_AT_ROOT && at_root))
		return 0;
	return bytes_of(call, data, group);
}

static bool is_in_place(const struct tpc_mpi_call *call)
{
	uintptr_t buffer;

	if (!call->row->place)
		return false;
	buffer = tpc_mpi_argument(call, call->row->place);
	if (call->way & TPC_MPI_DESCRIBED && buffer)
		buffer = *(const uintptr_t *)buffer;
	return tpc_mpi_in_place(buffer, tpc_mpi_is_fortran(call));
}

/* This process's own share of the buffer of all. */
static uint64_t share_of(const struct tpc_mpi_call *call, const struct tpc_group *group)
{
	const struct tpc_mpi_data *data = &call->row->receive;

	if (data->how != TPC_MPI_COUNTS)
		return of_one(call, data);
	return members_of(group) ? of_mine(call, data, group->rank) : 0;
}

static void describe_data(const struct tpc_mpi_call *call, const struct tpc_group *group, struct tpc_comm *comm)
{
	const struct tpc_mpi_row *row = call->row;
	bool in_place = is_in_place(call);
	bool first = in_place && row->place == 1;

	if (!(in_place && !first))
		comm->received = data_bytes(call, &row->receive, group, comm->peer);
	if (!first)
		comm->sent = data_bytes(call, &row->send, group, comm->peer);
	else if (row->in_place == TPC_MPI_PLACE_SHARE)
		comm->sent = share_of(call, group);
	else if (row->in_place == TPC_MPI_PLACE_OTHER)
		comm->sent = comm->received;
}

/* ---- parts that are empty ---- */

/*
 * How many parts the call receives, each of which may be empty. Where a rank sends the same to all (MPI_Allgatherv) or to the
 * root (MPI_Gatherv), its own call tells whether that is anything.
 */
static uint32_t parts_of(const struct tpc_mpi_call *call, const struct tpc_group *group)
{
	switch (call->row->receive.how) {
	case TPC_MPI_COUNTS:
	case TPC_MPI_TYPES:
		return call->row->what == TPROF_COMM_ALLTOALL ? members_of(group) : 0;
	case TPC_MPI_IN_COUNTS:
	case TPC_MPI_IN_TYPES:
		return group ? group->in : 0;
	default:
		return 0;
	}
}

static bool is_part(const struct tpc_mpi_call *call, const struct tpc_mpi_data *data, uint32_t i)
{
	bool types = data->how == TPC_MPI_TYPES || data->how == TPC_MPI_IN_TYPES;

	return tpc_mpi_count_at(call, tpc_mpi_argument(call, data->count), i) > 0 &&
	       (!types || size_of(call, tpc_mpi_raw_at(call, tpc_mpi_argument(call, data->type), i)));
}

/* Which parts are not empty, if some are. One that receives nothing at all waits for nobody anyway. */
static void describe_parts(const struct tpc_mpi_call *call, const struct tpc_group *group, struct tpc_comm *comm)
{
	uint32_t parts = parts_of(call, group), full = 0, bytes = (parts + 7) / 8;

	if (!comm->received)
		return;
	for (uint32_t i = 0; i < parts; i++) {
		if (!is_part(call, &call->row->receive, i))
			continue;
		full++;
		if (bytes <= sizeof(comm->parts))
			comm->parts[i / 8] |= (uint8_t)(1u << i % 8);
	}
	if (full == parts)
		return;
	comm->flags = TPROF_COMM_PARTS;
	comm->parts_bytes = bytes <= sizeof(comm->parts) ? (uint8_t)bytes : 0;
}

void tpc_mpi_describe(const struct tpc_mpi_call *call, const struct tpc_group *group, struct tpc_comm *comm)
{
	const struct tpc_mpi_row *row = call->row;

	*comm = (struct tpc_comm){ .what = row->what, .peer = TPROF_COMM_ANY, .tag = TPROF_COMM_ANY };
	comm->group = group ? group->number : 0;
	if (row->peer)
		comm->peer = tpc_mpi_peer(tpc_mpi_integer(call, row->peer));
	if (row->tag)
		comm->tag = tpc_mpi_integer(call, row->tag);
	if (row->source)
		comm->source = tpc_mpi_peer(tpc_mpi_integer(call, row->source));
	if (row->source_tag)
		comm->source_tag = tpc_mpi_integer(call, row->source_tag);
	describe_data(call, group, comm);
	describe_parts(call, group, comm);
	if (comm->peer == TPROF_COMM_NOBODY && row->what != TPROF_COMM_SENDRECV)
		comm->sent = comm->received = 0;
	if (row->what == TPROF_COMM_SENDRECV && comm->peer == TPROF_COMM_NOBODY)
		comm->sent = 0;
	if (row->what == TPROF_COMM_SENDRECV && comm->source == TPROF_COMM_NOBODY)
		comm->received = 0;
}

bool tpc_mpi_status_at(const struct tpc_mpi_call *call, uintptr_t status, struct tpc_comm_done *done)
{
	struct tpc_mpi_status read;

	(void)call;
	if (tpc_mpi_is_ignored(status))
		return false;
	tpc_mpi_read_status(status, &read);
	if (read.source < TPROF_COMM_NOBODY || read.bytes > BYTES_MOST)
		return false;
	done->source = read.source;
	done->tag = read.tag;
	done->bytes = read.bytes;
	done->flags |= TPROF_COMM_DONE_STATUS | (read.cancelled ? TPROF_COMM_DONE_CANCELLED : 0);
	return true;
}
