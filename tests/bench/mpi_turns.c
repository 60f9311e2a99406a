/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_turns barrier|allreduce SECONDS: calls MPI with the process alone in the communicator, where a call does next to nothing.
 * mpi_turns world CALLS: all ranks reduce together so often.
 * Prints what calls.c prints (rank 0).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void call(const char *kind, MPI_Comm communicator)
{
	double given = 1, reduced;

	if (strcmp(kind, "barrier") == 0)
		MPI_Barrier(communicator);
	else
		MPI_Allreduce(&given, &reduced, 1, MPI_DOUBLE, MPI_SUM, communicator);
}

int main(int argc, char **argv)
{
	double start, last, best = 1e9;
	unsigned long calls = 0;
	int rank, together;

	if (argc != 3) {
		fprintf(stderr, "usage: mpi_turns barrier|allreduce SECONDS | world CALLS\n");
		return 2;
	}
	together = strcmp(argv[1], "world") == 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	start = last = now();
	do {
		int most = together ? atoi(argv[2]) : 1000;
		double passed;

		for (int i = 0; i < most; i++)
			call(argv[1], together ? MPI_COMM_WORLD : MPI_COMM_SELF);
		calls += (unsigned long)most;
		passed = now() - last;
		last += passed;
		best = passed / most < best ? passed / most : best;
	} while (!together && last < start + atof(argv[2]) * 1e9);
	MPI_Finalize();
	if (rank == 0)
		printf("{\"ns\": %.2f, \"best_ns\": %.2f, \"calls\": %lu}\n", (last - start) / (double)calls, best,
		       calls);
	return 0;
}
