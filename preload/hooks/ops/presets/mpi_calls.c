/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/mpi_calls.h"

#define ONE(count, type)                                                                                               \
	{                                                                                                              \
		TPC_MPI_ONE, TPC_MPI_ALL, count, type                                                                  \
	}
#define ELEMENT(type)                                                                                                  \
	{                                                                                                              \
		TPC_MPI_ELEMENT, TPC_MPI_ALL, 0, type                                                                  \
	}

/* clang-format off: a row each */
static const struct tpc_mpi_row rows[] = {
/* Messages: buffer, count, type, peer, tag, communicator. */
#define MESSAGE .comm = 6, .peer = 4, .tag = 5, .request = 7
	{ "send", TPROF_COMM_SEND, .forms = TPC_MPI_I | TPC_MPI_INIT, MESSAGE, .send = ONE(2, 3) },
	{ "bsend", TPROF_COMM_BSEND, .forms = TPC_MPI_I | TPC_MPI_INIT, MESSAGE, .send = ONE(2, 3) },
	{ "ssend", TPROF_COMM_SSEND, .forms = TPC_MPI_I | TPC_MPI_INIT, MESSAGE, .send = ONE(2, 3) },
	{ "rsend", TPROF_COMM_RSEND, .forms = TPC_MPI_I | TPC_MPI_INIT, MESSAGE, .send = ONE(2, 3) },
	{ "recv", TPROF_COMM_RECV, .forms = TPC_MPI_I | TPC_MPI_INIT, MESSAGE, .status = 7, .receive = ONE(2, 3) },
	{ "sendrecv", TPROF_COMM_SENDRECV, .forms = TPC_MPI_I, .comm = 11, .peer = 4, .tag = 5, .source = 9,
	  .source_tag = 10, .status = 12, .request = 12, .send = ONE(2, 3), .receive = ONE(7, 8) },
	{ "sendrecv_replace", TPROF_COMM_SENDRECV, .forms = TPC_MPI_I, .comm = 8, .peer = 4, .tag = 5, .source = 6,
	  .source_tag = 7, .status = 9, .request = 9, .send = ONE(2, 3), .receive = ONE(2, 3) },
	{ "probe", TPROF_COMM_PROBE, TPC_MPI_PROBE, .comm = 3, .peer = 1, .tag = 2, .status = 4 },
	{ "iprobe", TPROF_COMM_PROBE, TPC_MPI_PROBE, .comm = 3, .peer = 1, .tag = 2, .flag = 4, .status = 5 },
	{ "mprobe", TPROF_COMM_PROBE, TPC_MPI_PROBE, .comm = 3, .peer = 1, .tag = 2, .made = 4, .status = 5 },
	{ "improbe", TPROF_COMM_PROBE, TPC_MPI_PROBE, .comm = 3, .peer = 1, .tag = 2, .flag = 4, .made = 5,
	  .status = 6 },
	{ "mrecv", TPROF_COMM_RECV, TPC_MPI_MATCHED, .forms = TPC_MPI_I, .made = 4, .status = 5, .request = 5,
	  .receive = ONE(2, 3) },

	/* Requests. */
	{ "start", TPROF_COMM_WAIT, TPC_MPI_START, .request = 1 },
	{ "startall", TPROF_COMM_WAIT, TPC_MPI_STARTALL, .request = 2 },
	{ "wait", TPROF_COMM_WAIT, TPC_MPI_WAIT, .request = 1, .status = 2 },
	{ "test", TPROF_COMM_TEST, TPC_MPI_WAIT, .request = 1, .flag = 2, .status = 3 },
	{ "waitall", TPROF_COMM_WAIT, TPC_MPI_WAITALL, .request = 2, .status = 3 },
	{ "testall", TPROF_COMM_TEST, TPC_MPI_WAITALL, .request = 2, .flag = 3, .status = 4 },
	{ "waitany", TPROF_COMM_WAIT, TPC_MPI_WAITANY, .request = 2, .made = 3, .status = 4 },
	{ "testany", TPROF_COMM_TEST, TPC_MPI_WAITANY, .request = 2, .made = 3, .flag = 4, .status = 5 },
	{ "waitsome", TPROF_COMM_WAIT, TPC_MPI_WAITSOME, .request = 2, .made = 3, .status = 5 },
	{ "testsome", TPROF_COMM_TEST, TPC_MPI_WAITSOME, .request = 2, .made = 3, .status = 5 },
	{ "request_free", TPROF_COMM_WAIT, TPC_MPI_DROP, .request = 1 },

/* Collectives. */
#define FORMS .forms = (TPC_MPI_I | TPC_MPI_INIT)
	{ "barrier", TPROF_COMM_BARRIER, FORMS, .comm = 1, .request = 2, .info = true },
	{ "bcast", TPROF_COMM_BCAST, FORMS, .comm = 5, .peer = 4, .request = 6, .info = true,
	  .send = { TPC_MPI_ONE, TPC_MPI_AT_ROOT, 2, 3 }, .receive = { TPC_MPI_ONE, TPC_MPI_NOT_AT_ROOT, 2, 3 } },
	{ "reduce", TPROF_COMM_REDUCE, FORMS, .comm = 7, .peer = 6, .request = 8, .info = true, .send = ONE(3, 4),
	  .receive = { TPC_MPI_ONE, TPC_MPI_AT_ROOT, 3, 4 } },
#define REDUCTION FORMS, .comm = 6, .request = 7, .info = true
	{ "allreduce", TPROF_COMM_ALLREDUCE, REDUCTION, .send = ONE(3, 4), .receive = ONE(3, 4) },
	{ "scan", TPROF_COMM_SCAN, REDUCTION, .send = ONE(3, 4), .receive = ONE(3, 4) },
	{ "exscan", TPROF_COMM_EXSCAN, REDUCTION, .send = ONE(3, 4), .receive = ONE(3, 4) },
	{ "reduce_scatter_block", TPROF_COMM_REDUCE_SCATTER, REDUCTION, .send = { TPC_MPI_EACH, TPC_MPI_ALL, 3, 4 },
	  .receive = ONE(3, 4) },
	{ "reduce_scatter", TPROF_COMM_REDUCE_SCATTER, REDUCTION, .send = { TPC_MPI_COUNTS, TPC_MPI_ALL, 3, 4 },
	  .receive = { TPC_MPI_MINE, TPC_MPI_ALL, 3, 4 } },
	{ "gather", TPROF_COMM_GATHER, FORMS, .comm = 8, .peer = 7, .place = 1, .in_place = TPC_MPI_PLACE_NOTHING,
	  .request = 9, .info = true, .send = ONE(2, 3), .receive = { TPC_MPI_EACH, TPC_MPI_AT_ROOT, 5, 6 } },
	{ "gatherv", TPROF_COMM_GATHER, FORMS, .comm = 9, .peer = 8, .place = 1, .in_place = TPC_MPI_PLACE_NOTHING,
	  .request = 10, .info = true, .send = ONE(2, 3), .receive = { TPC_MPI_COUNTS, TPC_MPI_AT_ROOT, 5, 7 } },
	{ "scatter", TPROF_COMM_SCATTER, FORMS, .comm = 8, .peer = 7, .place = 4, .in_place = TPC_MPI_PLACE_NOTHING,
	  .request = 9, .info = true, .send = { TPC_MPI_EACH, TPC_MPI_AT_ROOT, 2, 3 }, .receive = ONE(5, 6) },
	{ "scatterv", TPROF_COMM_SCATTER, FORMS, .comm = 9, .peer = 8, .place = 5, .in_place = TPC_MPI_PLACE_NOTHING,
	  .request = 10, .info = true, .send = { TPC_MPI_COUNTS, TPC_MPI_AT_ROOT, 2, 4 }, .receive = ONE(6, 7) },
#define SIMPLE FORMS, .comm = 7, .request = 8, .info = true
#define VARIED FORMS, .comm = 8, .request = 9, .info = true
#define PAIRED FORMS, .comm = 9, .request = 10, .info = true
	{ "allgather", TPROF_COMM_ALLGATHER, SIMPLE, .place = 1, .in_place = TPC_MPI_PLACE_SHARE, .send = ONE(2, 3),
	  .receive = { TPC_MPI_EACH, TPC_MPI_ALL, 5, 6 } },
	{ "allgatherv", TPROF_COMM_ALLGATHER, VARIED, .place = 1, .in_place = TPC_MPI_PLACE_SHARE, .send = ONE(2, 3),
	  .receive = { TPC_MPI_COUNTS, TPC_MPI_ALL, 5, 7 } },
	{ "alltoall", TPROF_COMM_ALLTOALL, SIMPLE, .place = 1, .in_place = TPC_MPI_PLACE_OTHER,
	  .send = { TPC_MPI_EACH, TPC_MPI_ALL, 2, 3 }, .receive = { TPC_MPI_EACH, TPC_MPI_ALL, 5, 6 } },
	{ "alltoallv", TPROF_COMM_ALLTOALL, PAIRED, .place = 1, .in_place = TPC_MPI_PLACE_OTHER,
	  .send = { TPC_MPI_COUNTS, TPC_MPI_ALL, 2, 4 }, .receive = { TPC_MPI_COUNTS, TPC_MPI_ALL, 6, 8 } },
	{ "alltoallw", TPROF_COMM_ALLTOALL, PAIRED, .place = 1, .in_place = TPC_MPI_PLACE_OTHER,
	  .send = { TPC_MPI_TYPES, TPC_MPI_ALL, 2, 4 }, .receive = { TPC_MPI_TYPES, TPC_MPI_ALL, 6, 8 } },
	{ "neighbor_allgather", TPROF_COMM_NEIGHBOR_ALLGATHER, SIMPLE, .send = { TPC_MPI_OUT, TPC_MPI_ALL, 2, 3 },
	  .receive = { TPC_MPI_IN, TPC_MPI_ALL, 5, 6 } },
	{ "neighbor_allgatherv", TPROF_COMM_NEIGHBOR_ALLGATHER, VARIED, .send = { TPC_MPI_OUT, TPC_MPI_ALL, 2, 3 },
	  .receive = { TPC_MPI_IN_COUNTS, TPC_MPI_ALL, 5, 7 } },
	{ "neighbor_alltoall", TPROF_COMM_NEIGHBOR_ALLTOALL, SIMPLE, .send = { TPC_MPI_OUT, TPC_MPI_ALL, 2, 3 },
	  .receive = { TPC_MPI_IN, TPC_MPI_ALL, 5, 6 } },
	{ "neighbor_alltoallv", TPROF_COMM_NEIGHBOR_ALLTOALL, PAIRED, .send = { TPC_MPI_OUT_COUNTS, TPC_MPI_ALL, 2, 4 },
	  .receive = { TPC_MPI_IN_COUNTS, TPC_MPI_ALL, 6, 8 } },
	{ "neighbor_alltoallw", TPROF_COMM_NEIGHBOR_ALLTOALL, PAIRED, .send = { TPC_MPI_OUT_TYPES, TPC_MPI_ALL, 2, 4 },
	  .receive = { TPC_MPI_IN_TYPES, TPC_MPI_ALL, 6, 8 } },

/* Communicators. */
#define MAKE TPROF_COMM_CREATE, TPC_MPI_MAKE, TPROF_GROUP_COMMUNICATOR
	{ "comm_dup", MAKE, .forms = TPC_MPI_I, .comm = 1, .made = 2, .request = 3 },
	{ "comm_dup_with_info", MAKE, .comm = 1, .made = 3 },
	{ "comm_idup_with_info", MAKE, .forms = TPC_MPI_I, .comm = 1, .made = 3, .request = 4 },
	{ "comm_split", MAKE, .comm = 1, .color = 2, .made = 4 },
	{ "comm_split_type", MAKE, .comm = 1, .color = 2, .made = 5 },
	{ "comm_create", MAKE, .comm = 1, .made = 3 },
	{ "comm_create_group", MAKE, .apart = true, .comm = 1, .made = 4 },
	{ "cart_create", MAKE, .comm = 1, .made = 6 },
	{ "cart_sub", MAKE, .comm = 1, .made = 3 },
	{ "graph_create", MAKE, .comm = 1, .made = 6 },
	{ "dist_graph_create", MAKE, .comm = 1, .made = 9 },
	{ "dist_graph_create_adjacent", MAKE, .comm = 1, .made = 10 },
	{ "intercomm_create", MAKE, .comm = 1, .made = 6 },
	{ "intercomm_merge", MAKE, .comm = 1, .made = 3 },
	{ "comm_free", TPROF_COMM_FREE, TPC_MPI_FREE, .comm = 1 },
	{ "comm_disconnect", TPROF_COMM_FREE, TPC_MPI_FREE, .comm = 1 },
	{ "init", TPROF_COMM_INIT, .act = TPC_MPI_BEGIN },
	{ "init_thread", TPROF_COMM_INIT, .act = TPC_MPI_BEGIN },
	{ "finalize", TPROF_COMM_FINALIZE, .act = TPC_MPI_END },

/* Windows. */
#define WINDOW TPROF_COMM_CREATE, TPC_MPI_MAKE, TPROF_GROUP_WINDOW
	{ "win_create", WINDOW, .comm = 5, .made = 6 },
	{ "win_allocate", WINDOW, .comm = 4, .made = 6 },
	{ "win_allocate_shared", WINDOW, .comm = 4, .made = 6 },
	{ "win_create_dynamic", WINDOW, .comm = 2, .made = 3 },
	{ "win_free", TPROF_COMM_FREE, TPC_MPI_FREE, TPROF_GROUP_WINDOW, .comm = 1 },
#define ON_WINDOW TPC_MPI_CALL, TPROF_GROUP_WINDOW
	{ "win_fence", TPROF_COMM_FENCE, ON_WINDOW, .comm = 2 },
	{ "win_lock", TPROF_COMM_LOCK, ON_WINDOW, .comm = 4, .peer = 2 },
	{ "win_lock_all", TPROF_COMM_LOCK, ON_WINDOW, .comm = 2 },
	{ "win_unlock", TPROF_COMM_UNLOCK, ON_WINDOW, .comm = 2, .peer = 1 },
	{ "win_unlock_all", TPROF_COMM_UNLOCK, ON_WINDOW, .comm = 1 },
	{ "win_flush", TPROF_COMM_FLUSH, ON_WINDOW, .comm = 2, .peer = 1 },
	{ "win_flush_all", TPROF_COMM_FLUSH, ON_WINDOW, .comm = 1 },
	{ "win_flush_local", TPROF_COMM_FLUSH, ON_WINDOW, .comm = 2, .peer = 1 },
	{ "win_flush_local_all", TPROF_COMM_FLUSH, ON_WINDOW, .comm = 1 },
	{ "win_post", TPROF_COMM_POST, ON_WINDOW, .comm = 3 },
	{ "win_start", TPROF_COMM_START, ON_WINDOW, .comm = 3 },
	{ "win_complete", TPROF_COMM_COMPLETE, ON_WINDOW, .comm = 1 },
	{ "win_wait", TPROF_COMM_WIN_WAIT, ON_WINDOW, .comm = 1 },
	{ "put", TPROF_COMM_PUT, ON_WINDOW, .forms = TPC_MPI_R, .comm = 8, .peer = 4, .request = 9, .send = ONE(2, 3) },
	{ "get", TPROF_COMM_GET, ON_WINDOW, .forms = TPC_MPI_R, .comm = 8, .peer = 4, .request = 9,
	  .receive = ONE(2, 3) },
	{ "accumulate", TPROF_COMM_ACCUMULATE, ON_WINDOW, .forms = TPC_MPI_R, .comm = 9, .peer = 4, .request = 10,
	  .send = ONE(2, 3) },
	{ "get_accumulate", TPROF_COMM_ACCUMULATE, ON_WINDOW, .forms = TPC_MPI_R, .comm = 12, .peer = 7, .request = 13,
	  .send = ONE(2, 3), .receive = ONE(5, 6) },
	{ "fetch_and_op", TPROF_COMM_ACCUMULATE, ON_WINDOW, .comm = 7, .peer = 4, .send = ELEMENT(3),
	  .receive = ELEMENT(3) },
	{ "compare_and_swap", TPROF_COMM_ACCUMULATE, ON_WINDOW, .comm = 7, .peer = 5, .send = ELEMENT(4),
	  .receive = ELEMENT(4) },
};
/* clang-format on */

static const struct tpc_mpi_row *find(const char *name, size_t length, uint8_t form)
{
	for (size_t i = 0; i < TPC_LENGTH(rows); i++) {
		if (strncmp(rows[i].name, name, length) == 0 && !rows[i].name[length] &&
		    (!form || rows[i].forms & form))
			return &rows[i];
	}
	return NULL;
}

bool tpc_mpi_asks(const struct tpc_mpi_row *row)
{
	return row->what == TPROF_COMM_TEST || (row->what == TPROF_COMM_PROBE && row->flag);
}

const struct tpc_mpi_row *tpc_mpi_row(const char *name, enum tpc_mpi_form *form)
{
	static const char init[] = "_init", idup[] = "comm_idup";
	size_t length = strlen(name), end = sizeof(init) - 1;
	const struct tpc_mpi_row *row = find(name, length, 0);

	*form = TPC_MPI_PLAIN;
	if (row && strncmp(name, idup, sizeof(idup) - 1) != 0)
		return row;
	*form = TPC_MPI_NONBLOCKING;
	if (strcmp(name, idup) == 0)
		return find("comm_dup", sizeof("comm_dup") - 1, TPC_MPI_I);
	if (row)
		return row;
	if (*name == 'i' && (row = find(name + 1, length - 1, TPC_MPI_I)) != NULL)
		return row;
	if (*name == 'r' && (row = find(name + 1, length - 1, TPC_MPI_R)) != NULL)
		return row;
	*form = TPC_MPI_PERSISTENT;
	return length > end && strcmp(name + length - end, init) == 0 ? find(name, length - end, TPC_MPI_INIT) : NULL;
}
