/* SPDX-License-Identifier: Apache-2.0 */
/* Communicates with itself, in each way that MPI has. `mpi_calls N`: each N times. It prints what it called, and how often. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 128

static struct {
	const char *name;
	int calls;
} noted[MANY];

static void note(const char *name)
{
	int i = 0;

	while (i < MANY - 1 && noted[i].name && strcmp(noted[i].name, name) != 0)
		i++;
	noted[i].name = name;
	noted[i].calls++;
}

#define CALL(function, ...) (note(#function), function(__VA_ARGS__))

static int from[4] = { 1, 2, 3, 4 }, to[4], flag;
static MPI_Request requests[2];
static MPI_Status statuses[2];

static void wait_both(void)
{
	CALL(MPI_Waitall, 2, requests, statuses);
}

static void send_each_way(MPI_Comm comm)
{
	char room[1000 + MPI_BSEND_OVERHEAD], *detached;
	int size;

	MPI_Buffer_attach(room, sizeof(room));
#define SEND(how)                                                                                                      \
	CALL(MPI_Irecv, to, 4, MPI_INT, 0, 1, comm, &requests[0]);                                                     \
	CALL(how, from, 4, MPI_INT, 0, 1, comm, &requests[1]);                                                         \
	wait_both()
	SEND(MPI_Isend);
	SEND(MPI_Issend);
	SEND(MPI_Ibsend);
	SEND(MPI_Irsend);
#define SEND_AND_WAIT(how)                                                                                             \
	CALL(MPI_Irecv, to, 4, MPI_INT, 0, 1, comm, &requests[0]);                                                     \
	CALL(how, from, 4, MPI_INT, 0, 1, comm);                                                                       \
	CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE)
	SEND_AND_WAIT(MPI_Send);
	SEND_AND_WAIT(MPI_Ssend);
	SEND_AND_WAIT(MPI_Bsend);
	SEND_AND_WAIT(MPI_Rsend);
	CALL(MPI_Buffer_detach, &detached, &size);
	CALL(MPI_Sendrecv, from, 4, MPI_INT, 0, 2, to, 4, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
	CALL(MPI_Sendrecv_replace, to, 4, MPI_INT, 0, 2, 0, 2, comm, MPI_STATUS_IGNORE);
}

static void receive_each_way(MPI_Comm comm)
{
	MPI_Message message;

	CALL(MPI_Isend, from, 4, MPI_INT, 0, 3, comm, &requests[0]);
	CALL(MPI_Iprobe, 0, 3, comm, &flag, MPI_STATUS_IGNORE);
	CALL(MPI_Probe, 0, 3, comm, MPI_STATUS_IGNORE);
	CALL(MPI_Recv, to, 4, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
	CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
	CALL(MPI_Isend, from, 4, MPI_INT, 0, 3, comm, &requests[0]);
	CALL(MPI_Mprobe, 0, 3, comm, &message, MPI_STATUS_IGNORE);
	CALL(MPI_Mrecv, to, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
	CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
	CALL(MPI_Isend, from, 4, MPI_INT, 0, 3, comm, &requests[0]);
	do
		CALL(MPI_Improbe, 0, 3, comm, &flag, &message, MPI_STATUS_IGNORE);
	while (!flag);
	CALL(MPI_Imrecv, to, 4, MPI_INT, &message, &requests[1]);
	wait_both();
}

static void persist(MPI_Comm comm)
{
	CALL(MPI_Recv_init, to, 4, MPI_INT, 0, 4, comm, &requests[0]);
	CALL(MPI_Send_init, from, 4, MPI_INT, 0, 4, comm, &requests[1]);
	CALL(MPI_Startall, 2, requests);
	wait_both();
	CALL(MPI_Start, &requests[0]);
	CALL(MPI_Start, &requests[1]);
	do
		CALL(MPI_Testall, 2, requests, &flag, statuses);
	while (!flag);
	CALL(MPI_Request_free, &requests[0]);
	CALL(MPI_Request_free, &requests[1]);
}

static void collect(MPI_Comm comm)
{
	CALL(MPI_Bcast, from, 4, MPI_INT, 0, comm);
	CALL(MPI_Allreduce, from, to, 4, MPI_INT, MPI_SUM, comm);
	CALL(MPI_Scan, from, to, 4, MPI_INT, MPI_SUM, comm);
	CALL(MPI_Exscan, from, to, 4, MPI_INT, MPI_SUM, comm);
	CALL(MPI_Reduce_scatter_block, from, to, 4, MPI_INT, MPI_SUM, comm);
	CALL(MPI_Iscan, from, to, 4, MPI_INT, MPI_SUM, comm, &requests[0]);
	CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
	CALL(MPI_Iexscan, from, to, 4, MPI_INT, MPI_SUM, comm, &requests[0]);
	do
		CALL(MPI_Test, &requests[0], &flag, MPI_STATUS_IGNORE);
	while (!flag);
	CALL(MPI_Iallgather, from, 4, MPI_INT, to, 4, MPI_INT, comm, &requests[0]);
	CALL(MPI_Ibarrier, comm, &requests[1]);
	wait_both();
}

/* Its two neighbours are itself. */
static void ask_neighbours(MPI_Comm comm)
{
	int dims = 1, periods = 1, all[8];
	MPI_Comm ring;

	CALL(MPI_Cart_create, comm, 1, &dims, &periods, 0, &ring);
	CALL(MPI_Neighbor_allgather, from, 4, MPI_INT, all, 4, MPI_INT, ring);
	CALL(MPI_Ineighbor_allgather, from, 4, MPI_INT, all, 4, MPI_INT, ring, &requests[0]);
	CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
	CALL(MPI_Ineighbor_alltoall, from, 2, MPI_INT, all, 2, MPI_INT, ring, &requests[0]);
	CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
	CALL(MPI_Comm_free, &ring);
}

static void reach_over(MPI_Comm comm)
{
	int *window, one = 1, old;
	MPI_Win win;

	CALL(MPI_Win_allocate, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &window, &win);
	CALL(MPI_Win_fence, 0, win);
	CALL(MPI_Put, from, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
	CALL(MPI_Win_fence, 0, win);
	CALL(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, 0, 0, win);
	CALL(MPI_Get, to, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
	CALL(MPI_Accumulate, from, 4, MPI_INT, 0, 0, 4, MPI_INT, MPI_SUM, win);
	CALL(MPI_Win_flush, 0, win);
	CALL(MPI_Fetch_and_op, &one, &old, MPI_INT, 0, 0, MPI_SUM, win);
	CALL(MPI_Compare_and_swap, &one, &one, &old, MPI_INT, 0, 0, win);
	CALL(MPI_Win_unlock, 0, win);
	CALL(MPI_Win_free, &win);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, rank;
	MPI_Comm comm;

	CALL(MPI_Init, &argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CALL(MPI_Comm_dup, MPI_COMM_SELF, &comm);
	for (int i = 0; i < times; i++) {
		send_each_way(comm);
		receive_each_way(comm);
		persist(comm);
		collect(comm);
		ask_neighbours(comm);
		reach_over(comm);
	}
	CALL(MPI_Comm_free, &comm);
	CALL(MPI_Finalize);
	for (int i = 0; i < MANY && noted[i].name; i++)
		printf("%s %d\n", noted[i].name, noted[i].calls);
	return 0;
}
