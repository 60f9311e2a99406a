/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads at once (MPI_THREAD_MULTIPLE), each with a communicator of its own: `mpi_threads N`, N rounds each. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

static MPI_Comm comms[THREADS];
static int rounds;

static void finish(int round, MPI_Request *requests)
{
	MPI_Status statuses[2];
	int flag = 0;

	if (round % 3 == 0) {
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	} else if (round % 3 == 1) {
		MPI_Waitall(2, requests, statuses);
	} else {
		while (!flag)
			MPI_Testall(2, requests, &flag, statuses);
	}
}

static void *run(void *argument)
{
	int mine = *(int *)argument, from[4] = { mine }, to[4];
	MPI_Request requests[2];

	for (int i = 0; i < rounds; i++) {
		MPI_Irecv(to, 4, MPI_INT, 0, mine, comms[mine], &requests[0]);
		MPI_Isend(from, 4, MPI_INT, 0, mine, comms[mine], &requests[1]);
		finish(i, requests);
		MPI_Allreduce(from, to, 4, MPI_INT, MPI_SUM, comms[mine]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int level, numbers[THREADS];

	rounds = argc > 1 ? atoi(argv[1]) : 1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, run, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	puts(level == MPI_THREAD_MULTIPLE ? "multiple" : "not");
	return 0;
}
