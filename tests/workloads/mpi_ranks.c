/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that communicate in each way, each with a log of its own: `mpi_ranks LOG` writes LOG.RANK, a line for each call that it made:
 * what it asked for, the communicator by a name that all members share, its own rank and the size, the call's number on that
 * communicator (counted here), peer or root, tag, bytes sent and received, and who sent what was received. Run by mpirun with 4 ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 64
#define WORDS 4096

static FILE *file;
static int world_rank, world_size;
static int from[WORDS], to[WORDS];

struct comm {
	MPI_Comm comm;
	MPI_Win win;
	const char *name;
	int size, rank, calls;
};
static struct comm world = { .name = "world" };

static void say(const char *what, const struct comm *comm, int sequence, int peer, int tag, long sent, long received)
{
	fprintf(file, "%s %s %d %d %d %d %d %ld %ld\n", what, comm->name, comm->rank, comm->size, sequence, peer, tag,
		sent, received);
}

static void message(const char *what, const struct comm *comm, int peer, int tag, long sent, long received)
{
	say(what, comm, 0, peer, tag, sent, received);
}

static void together(const char *what, struct comm *comm, int root, long sent, long received)
{
	say(what, comm, ++comm->calls, root, -1, sent, received);
}

static void describe(struct comm *comm)
{
	MPI_Comm_size(comm->comm, &comm->size);
	MPI_Comm_rank(comm->comm, &comm->rank);
}

#define INTS(n) ((long)(n) * (long)sizeof(int))

static void collect(struct comm *on)
{
	int counts[MANY], places[MANY], mine = on->rank + 1, all = 0, root = on->size - 1, at_root = on->rank == root;

	for (int i = 0; i < on->size; i++) {
		counts[i] = i + 1;
		places[i] = all;
		all += counts[i];
	}
	MPI_Barrier(on->comm);
	together("barrier", on, -1, 0, 0);
	MPI_Bcast(from, 10, MPI_INT, root, on->comm);
	together("bcast", on, root, at_root ? INTS(10) : 0, at_root ? 0 : INTS(10));
	MPI_Reduce(from, to, 11, MPI_INT, MPI_SUM, root, on->comm);
	together("reduce", on, root, INTS(11), at_root ? INTS(11) : 0);
	MPI_Allreduce(MPI_IN_PLACE, to, 12, MPI_INT, MPI_SUM, on->comm);
	together("allreduce", on, -1, INTS(12), INTS(12));
	/* What does not count at others than the root is nonsense there. */
	MPI_Gather(from, 13, MPI_INT, to, at_root ? 13 : -1, at_root ? MPI_INT : MPI_DATATYPE_NULL, root, on->comm);
	together("gather", on, root, INTS(13), at_root ? INTS(13) * on->size : 0);
	MPI_Gatherv(from, mine, MPI_INT, to, at_root ? counts : NULL, at_root ? places : NULL,
		    at_root ? MPI_INT : MPI_DATATYPE_NULL, root, on->comm);
	together("gather", on, root, INTS(mine), at_root ? INTS(all) : 0);
	MPI_Scatter(at_root ? from : NULL, at_root ? 14 : -1, at_root ? MPI_INT : MPI_DATATYPE_NULL, to, 14, MPI_INT,
		    root, on->comm);
	together("scatter", on, root, at_root ? INTS(14) * on->size : 0, INTS(14));
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 15, MPI_INT, on->comm);
	together("allgather", on, -1, INTS(15), INTS(15) * on->size);
	MPI_Allgatherv(from, mine, MPI_INT, to, counts, places, MPI_INT, on->comm);
	together("allgather", on, -1, INTS(mine), INTS(all));
	MPI_Alltoall(from, 16, MPI_INT, to, 16, MPI_INT, on->comm);
	together("alltoall", on, -1, INTS(16) * on->size, INTS(16) * on->size);
	MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, on->comm);
	together("reduce_scatter", on, -1, INTS(all), INTS(mine));
	MPI_Scan(from, to, 17, MPI_INT, MPI_SUM, on->comm);
	together("scan", on, -1, INTS(17), INTS(17));
}

static void collect_later(struct comm *on)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];

	MPI_Iallreduce(from, to, 20, MPI_INT, MPI_SUM, on->comm, &requests[0]);
	together("allreduce", on, -1, INTS(20), INTS(20));
	MPI_Ibarrier(on->comm, &requests[1]);
	together("barrier", on, -1, 0, 0);
	MPI_Ibcast(from + 100, 21, MPI_INT, 0, on->comm, &requests[2]);
	together("bcast", on, 0, on->rank ? 0 : INTS(21), on->rank ? INTS(21) : 0);
	MPI_Waitall(3, requests, statuses);
	fprintf(file, "done 3\n");
}

/* To the next rank, from the one before: in a ring. */
static void pass_on(struct comm *on)
{
	int next = (on->rank + 1) % on->size, before = (on->rank + on->size - 1) % on->size, flag = 0, index;
	MPI_Datatype pairs;
	MPI_Request requests[4];
	MPI_Status status, statuses[4];

	MPI_Sendrecv(from, 30, MPI_INT, next, 5, to, 40, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, on->comm, &status);
	message("sendrecv", on, next, 5, INTS(30), INTS(40));
	fprintf(file, "from %d %d %ld\n", before, 5, INTS(30));
	MPI_Irecv(to, 50, MPI_INT, MPI_ANY_SOURCE, 6, on->comm, &requests[0]);
	message("recv", on, -1, 6, 0, INTS(50));
	MPI_Isend(from, 31, MPI_INT, next, 6, on->comm, &requests[1]);
	message("send", on, next, 6, INTS(31), 0);
	MPI_Waitall(2, requests, statuses);
	fprintf(file, "from %d %d %ld\ndone 2\n", before, 6, INTS(31));
	MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
	MPI_Type_commit(&pairs);
	MPI_Isend(from, 3, pairs, next, 7, on->comm, &requests[0]);
	message("send", on, next, 7, 3 * 16, 0);
	MPI_Probe(before, 7, on->comm, &status);
	message("probe", on, before, 7, 0, 0);
	fprintf(file, "from %d %d %d\n", before, 7, 3 * 16);
	MPI_Recv(to, 3, pairs, before, 7, on->comm, MPI_STATUS_IGNORE);
	message("recv", on, before, 7, 0, 3 * 16);
	while (!flag)
		MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
	fprintf(file, "done 1\n");
	MPI_Type_free(&pairs);
	MPI_Send(from, 5, MPI_INT, MPI_PROC_NULL, 8, on->comm);
	message("send", on, -2, 8, 0, 0);
	MPI_Send_init(from, 32, MPI_INT, next, 9, on->comm, &requests[0]);
	MPI_Recv_init(to, 32, MPI_INT, before, 9, on->comm, &requests[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, requests);
		message("send", on, next, 9, INTS(32), 0);
		message("recv", on, before, 9, 0, INTS(32));
		for (int k = 0; k < 2; k++) {
			MPI_Waitany(2, requests, &index, &status);
			if (index == 1)
				fprintf(file, "from %d %d %ld\n", before, 9, INTS(32));
			fprintf(file, "done 1\n");
		}
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void divide(struct comm *on)
{
	struct comm half = { .name = on->rank % 2 ? "odd" : "even" },
		    copy = { .name = on->rank % 2 ? "odd copy" : "even copy" };

	MPI_Comm_split(on->comm, on->rank % 2, -on->rank, &half.comm);
	together("create", on, -1, 0, 0);
	describe(&half);
	collect(&half);
	MPI_Comm_dup(half.comm, &copy.comm);
	together("create", &half, -1, 0, 0);
	describe(&copy);
	pass_on(&copy);
	collect_later(&copy);
	together("free", &copy, -1, 0, 0);
	MPI_Comm_free(&copy.comm);
	together("free", &half, -1, 0, 0);
	MPI_Comm_free(&half.comm);
}

/* Neighbours in a line: the first and the last have one each, and nobody beyond. */
static void ask_neighbours(struct comm *on)
{
	struct comm line = { .name = "line" };
	int dims = on->size, periods = 0;

	MPI_Cart_create(on->comm, 1, &dims, &periods, 0, &line.comm);
	together("create", on, -1, 0, 0);
	describe(&line);
	MPI_Neighbor_allgather(from, 9, MPI_INT, to, 9, MPI_INT, line.comm);
	together("neighbor_allgather", &line, -1, INTS(18), INTS(18));
	together("free", &line, -1, 0, 0);
	MPI_Comm_free(&line.comm);
}

static void reach_over(struct comm *on)
{
	struct comm window = { .name = "window" };
	int next = (on->rank + 1) % on->size, *memory;

	MPI_Win_allocate(INTS(16), sizeof(int), MPI_INFO_NULL, on->comm, &memory, &window.win);
	together("create", on, -1, 0, 0);
	window.rank = on->rank;
	window.size = on->size;
	MPI_Win_fence(0, window.win);
	together("fence", &window, -1, 0, 0);
	MPI_Put(from, 8, MPI_INT, next, 0, 8, MPI_INT, window.win);
	message("put", &window, next, -1, INTS(8), 0);
	MPI_Win_fence(0, window.win);
	together("fence", &window, -1, 0, 0);
	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window.win);
	message("lock", &window, next, -1, 0, 0);
	MPI_Get(to, 7, MPI_INT, next, 0, 7, MPI_INT, window.win);
	message("get", &window, next, -1, 0, INTS(7));
	MPI_Win_unlock(next, window.win);
	message("unlock", &window, next, -1, 0, 0);
	together("free", &window, -1, 0, 0);
	MPI_Win_free(&window.win);
}

int main(int argc, char **argv)
{
	char path[1024];

	MPI_Init(&argc, &argv);
	world.comm = MPI_COMM_WORLD;
	describe(&world);
	world_rank = world.rank;
	world_size = world.size;
	snprintf(path, sizeof(path), "%s.%d", argv[1], world_rank);
	file = fopen(path, "w");
	say("init", &world, 0, -1, -1, 0, 0);
	collect(&world);
	pass_on(&world);
	collect_later(&world);
	divide(&world);
	ask_neighbours(&world);
	reach_over(&world);
	together("finalize", &world, -1, 0, 0);
	MPI_Finalize();
	return fclose(file);
}
