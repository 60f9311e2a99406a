/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators and windows: what the library says of one that was just made. */
#include "hooks/ops/presets/mpi_arguments.h"

/*
 * Asking the library may make it allocate, which is then part of the call that the program makes: the thread is busy as it is
 * in a real function.
 */
#define ASK(thread, question)                                                                                          \
	do {                                                                                                           \
		uint32_t was = (thread)->busy;                                                                         \
		(thread)->busy = TPC_BUSY_REAL;                                                                        \
		question;                                                                                              \
		(thread)->busy = was;                                                                                  \
	} while (0)

static void describe_first(struct tpc_communicator_record *record, uint8_t kind, const char *name)
{
	*record = (struct tpc_communicator_record){ .kind = kind, .size = 1, .leader = -1, .color = -1, .name = name };
}

static bool ask_size(tpc_mpi_handle handle, struct tpc_communicator_record *record)
{
	int size = 0, rank = 0;

	if (tpc_mpi.comm_size(handle, &size) || tpc_mpi.comm_rank(handle, &rank) || size < 1 || rank < 0)
		return false;
	record->size = (uint32_t)size;
	record->rank = (uint32_t)rank;
	return true;
}

static struct tpc_group *add_first(tpc_mpi_handle handle)
{
	struct tpc_communicator_record record;
	bool world = handle == tpc_mpi_world(), known;

	describe_first(&record, world ? TPROF_GROUP_WORLD : TPROF_GROUP_SELF,
		       world ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
	ASK(tpc_self, known = ask_size(handle, &record));
	if (!known)
		return NULL;
	if (world)
		record.leader = 0;
	return tpc_group_add(handle, &record);
}

struct tpc_group *tpc_mpi_group(tpc_mpi_handle handle)
{
	struct tpc_group *group = tpc_group_find(handle);

	if (group || (handle != tpc_mpi_world() && handle != tpc_mpi_self()))
		return group;
	return add_first(handle);
}

static tpc_mpi_handle handle_of(const struct tpc_mpi_call *call, uintptr_t raw)
{
	bool window = call->row->kind == TPROF_GROUP_WINDOW;

	return tpc_mpi_converted(call, raw, window ? tpc_mpi.win_f2c : tpc_mpi.comm_f2c);
}

struct tpc_group *tpc_mpi_group_of(const struct tpc_mpi_call *call)
{
	const struct tpc_mpi_row *row = call->row;
	uintptr_t raw;

	if (!row->comm)
		return NULL;
	if (row->act == TPC_MPI_FREE)
		raw = tpc_mpi_raw_at(call, tpc_mpi_argument(call, row->comm), 0);
	else
		raw = tpc_mpi_raw(call, row->comm);
	/* What a window is made of is a communicator. */
	if (row->act == TPC_MPI_MAKE)
		return tpc_mpi_group(tpc_mpi_converted(call, raw, tpc_mpi.comm_f2c));
	return tpc_mpi_group(handle_of(call, raw));
}

/* The rank in the world of the communicator's first member; -1: it is not known. */
static int32_t ask_leader(tpc_mpi_handle comm)
{
	tpc_mpi_handle group = 0, world = 0;
	int first = 0, leader = -1;

	if (tpc_mpi.comm_group(comm, &group))
		return -1;
	if (!tpc_mpi.comm_group(tpc_mpi_world(), &world)) {
		if (tpc_mpi.group_translate_ranks(group, 1, &first, world, &leader) || leader < 0)
			leader = -1;
		tpc_mpi.group_free(&world);
	}
	tpc_mpi.group_free(&group);
	return leader;
}

/* ---- topologies ---- */

struct neighbours {
	int in[TPC_NEIGHBOURS], out[TPC_NEIGHBOURS];
	int in_weights[TPC_NEIGHBOURS], out_weights[TPC_NEIGHBOURS];
	int in_count, out_count;
};

static bool ask_cart(tpc_mpi_handle comm, struct neighbours *to)
{
	int dimensions = 0;

	if (tpc_mpi.cartdim_get(comm, &dimensions) || dimensions < 0 || 2u * (uint32_t)dimensions > TPC_NEIGHBOURS)
		return false;
	for (int i = 0; i < dimensions; i++) {
		int *pair = &to->in[2 * i];

		if (tpc_mpi.cart_shift(comm, i, 1, &pair[0], &pair[1]))
			return false;
	}
	to->in_count = to->out_count = 2 * dimensions;
	memcpy(to->out, to->in, sizeof(to->out));
	return true;
}

static bool ask_graph(tpc_mpi_handle comm, int rank, struct neighbours *to)
{
	int count = 0;

	if (tpc_mpi.graph_neighbors_count(comm, rank, &count) || count < 0 || (uint32_t)count > TPC_NEIGHBOURS ||
	    tpc_mpi.graph_neighbors(comm, rank, count, to->in))
		return false;
	to->in_count = to->out_count = count;
	memcpy(to->out, to->in, sizeof(to->out));
	return true;
}

static bool ask_dist_graph(tpc_mpi_handle comm, struct neighbours *to)
{
	int weighted;

	return !tpc_mpi.dist_graph_neighbors_count(comm, &to->in_count, &to->out_count, &weighted) &&
	       to->in_count >= 0 && to->out_count >= 0 && (uint32_t)to->in_count <= TPC_NEIGHBOURS &&
	       (uint32_t)to->out_count <= TPC_NEIGHBOURS &&
	       !tpc_mpi.dist_graph_neighbors(comm, to->in_count, to->in, to->in_weights, to->out_count, to->out,
					     to->out_weights);
}

/* The neighbours in its topology. False: it has none, or too many. */
static bool ask_neighbours(tpc_mpi_handle comm, int rank, struct neighbours *to)
{
	int kind = 0, cart = tpc_mpi_pointers ? 1 : 2, graph = tpc_mpi_pointers ? 2 : 1;

	if (tpc_mpi.topo_test(comm, &kind))
		return false;
	if (kind == cart)
		return ask_cart(comm, to);
	if (kind == graph)
		return ask_graph(comm, rank, to);
	return kind == 3 && ask_dist_graph(comm, to);
}

/* ---- one that was made ---- */

/* Has it the members of its parent, in their order? The library may not have finished it yet (MPI_Comm_idup). */
static bool is_copy(const struct tpc_mpi_row *row)
{
	return row->kind == TPROF_GROUP_WINDOW || strncmp(row->name, "comm_dup", 8) == 0 ||
	       strncmp(row->name, "comm_idup", 9) == 0;
}

static bool ask_made(tpc_mpi_handle made, struct tpc_communicator_record *record)
{
	int inter = 0;

	if (!ask_size(made, record) || tpc_mpi.comm_test_inter(made, &inter))
		return false;
	if (inter)
		record->kind = TPROF_GROUP_INTER;
	else
		record->leader = ask_leader(made);
	return true;
}

static bool describe_made(const struct tpc_mpi_call *call, const struct tpc_group *parent, tpc_mpi_handle made,
			  struct tpc_communicator_record *record)
{
	describe_first(record, call->row->kind, "");
	record->parent = parent->number;
	if (call->row->color)
		record->color = tpc_mpi_integer(call, call->row->color);
	if (!is_copy(call->row))
		return ask_made(made, record);
	record->size = parent->size;
	record->rank = parent->rank;
	record->leader = parent->leader;
	if (parent->kind == TPROF_GROUP_INTER)
		record->kind = TPROF_GROUP_INTER;
	return true;
}

static void add_made(const struct tpc_mpi_call *call, const struct tpc_group *parent, tpc_mpi_handle made,
		     uint64_t sequence)
{
	struct tpc_communicator_record record;
	struct neighbours neighbours = { .in_count = 0 };
	bool known, finished = call->form == TPC_MPI_PLAIN && call->row->kind == TPROF_GROUP_COMMUNICATOR;

	ASK(call->thread, known = describe_made(call, parent, made, &record));
	if (!known)
		return;
	record.parent_sequence = sequence;
	if (finished && record.kind == TPROF_GROUP_COMMUNICATOR)
		ASK(call->thread, record.has_topology = ask_neighbours(made, (int)record.rank, &neighbours));
	record.in = neighbours.in;
	record.out = neighbours.out;
	record.in_count = (uint32_t)neighbours.in_count;
	record.out_count = (uint32_t)neighbours.out_count;
	tpc_group_add(made, &record);
}

void tpc_mpi_made(const struct tpc_mpi_call *call, uint64_t sequence)
{
	const struct tpc_group *parent = tpc_mpi_group_of(call);
	tpc_mpi_handle made = handle_of(call, tpc_mpi_raw_at(call, tpc_mpi_argument(call, call->row->made), 0));
	bool is_one = call->row->kind == TPROF_GROUP_WINDOW ? made != 0 : tpc_mpi_is_comm(made);

	if (parent && is_one)
		add_made(call, parent, made, sequence);
}

void tpc_mpi_freed(const struct tpc_mpi_call *call)
{
	tpc_group_remove(handle_of(call, tpc_mpi_raw_at(call, tpc_mpi_argument(call, call->row->comm), 0)));
}
