/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours LATE STEPS MS: ranks of an MPI job exchange data with some of the others in each step: with their neighbours in a line, in a
 * graph and in a directed graph, and with all but where parts are empty. Rank LATE sleeps MS before each. Each writes its own log to
 * log.RANK, a line for each call: op, step, when it gave its data, when it began to wait, when it left (CLOCK_REALTIME, ns), and the ranks
 * from which it receives something.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tprof.h>

enum { MOST = 64, INTS = 256 };

static FILE *record;
static int rank, size, step, late;
static long long delay;
static int given[MOST * INTS], got[MOST * INTS];

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void doze(long long ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

/* Ranks from which something comes. */
struct from {
	int count, ranks[MOST];
};

static void add(struct from *from, int source)
{
	if (source >= 0 && source < size)
		from->ranks[from->count++] = source;
}

static void prepare(void)
{
	doze(200000);
	if (rank == late)
		doze(delay);
}

static void note(const char *name, const struct from *from, long long came, long long began)
{
	fprintf(record, "%s %d %lld %lld %lld", name, step, came, began, now());
	for (int i = 0; i < from->count; i++)
		fprintf(record, " %d", from->ranks[i]);
	fprintf(record, "\n");
}

#define CALL(from, name, ...)                                                                                          \
	do {                                                                                                           \
		long long came;                                                                                        \
                                                                                                                       \
		prepare();                                                                                             \
		came = now();                                                                                          \
		name(__VA_ARGS__);                                                                                     \
		note(#name, from, came, came);                                                                         \
	} while (0)

/* Begins it, sleeps, and then waits. */
#define CALL_LATER(from, name, ...)                                                                                    \
	do {                                                                                                           \
		MPI_Request request;                                                                                   \
		long long came, began;                                                                                 \
                                                                                                                       \
		prepare();                                                                                             \
		came = now();                                                                                          \
		name(__VA_ARGS__, &request);                                                                           \
		doze(300000);                                                                                          \
		began = now();                                                                                         \
		MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                 \
		note(#name, from, came, began);                                                                        \
	} while (0)

static void in_a_line(MPI_Comm line)
{
	struct from both = { 0 };

	add(&both, rank - 1);
	add(&both, rank + 1);
	CALL(&both, MPI_Neighbor_allgather, given, INTS, MPI_INT, got, INTS, MPI_INT, line);
	CALL_LATER(&both, MPI_Ineighbor_alltoall, given, INTS, MPI_INT, got, INTS, MPI_INT, line);
}

/* Each is connected with rank 0, and rank 0 with all. */
static void in_a_star(MPI_Comm star)
{
	struct from from = { 0 };
	int counts[MOST], places[MOST];
	MPI_Aint bytes[MOST];
	MPI_Datatype types[MOST];

	for (int i = 0; i < size; i++) {
		counts[i] = INTS;
		places[i] = i * INTS;
		bytes[i] = (MPI_Aint)sizeof(int) * i * INTS;
		types[i] = MPI_INT;
	}
	for (int i = 0; i < size; i++)
		if (rank ? i == 0 : i > 0)
			add(&from, i);
	CALL(&from, MPI_Neighbor_alltoallw, given, counts, bytes, types, got, counts, bytes, types, star);
	CALL(&from, MPI_Neighbor_allgatherv, given, INTS, MPI_INT, got, counts, places, MPI_INT, star);
}

/* From the one before and the one before that; from the latter, odd ranks get nothing. */
static void in_a_ring(MPI_Comm ring)
{
	struct from from = { 0 };
	int send[2] = { INTS, rank % 2 ? 0 : INTS }, receive[2] = { INTS, rank % 2 ? 0 : INTS },
	    places[2] = { 0, INTS };

	add(&from, (rank + size - 1) % size);
	if (rank % 2 == 0)
		add(&from, (rank + size - 2) % size);
	CALL(&from, MPI_Neighbor_alltoallv, given, send, places, MPI_INT, got, receive, places, MPI_INT, ring);
	CALL_LATER(&from, MPI_Ineighbor_alltoallv, given, send, places, MPI_INT, got, receive, places, MPI_INT, ring);
}

/* To the next rank, and to that of half the number. */
static int sends(int source, int to)
{
	return to == (source + 1) % size || to == source / 2;
}

static void among_all(void)
{
	int send[MOST], receive[MOST], places[MOST], bytes[MOST];
	MPI_Datatype types[MOST];
	struct from from = { 0 };

	for (int i = 0; i < size; i++) {
		send[i] = sends(rank, i) ? INTS : 0;
		receive[i] = sends(i, rank) ? INTS : 0;
		places[i] = i * INTS;
		bytes[i] = i * INTS * (int)sizeof(int);
		types[i] = MPI_INT;
		if (receive[i])
			add(&from, i);
	}
	CALL(&from, MPI_Alltoallv, given, send, places, MPI_INT, got, receive, places, MPI_INT, MPI_COMM_WORLD);
	CALL(&from, MPI_Alltoallw, given, send, bytes, types, got, receive, bytes, types, MPI_COMM_WORLD);
	CALL_LATER(&from, MPI_Ialltoallv, given, send, places, MPI_INT, got, receive, places, MPI_INT, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
	MPI_Request request;
	long long came, began;

	MPI_Alltoallv_init(given, send, places, MPI_INT, got, receive, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
			   &request);
	for (int i = 0; i < 2; i++) {
		prepare();
		came = now();
		MPI_Start(&request);
		began = now();
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		note("MPI_Start", &from, came, began);
	}
	MPI_Request_free(&request);
#endif
}

/* Odd ranks have nothing to give, and get nothing. */
static void with_the_root(void)
{
	int counts[MOST], places[MOST];
	struct from all = { 0 }, root = { 0 }, none = { 0 };

	for (int i = 0; i < size; i++) {
		counts[i] = i % 2 ? 0 : INTS;
		places[i] = i * INTS;
		if (i % 2 == 0)
			add(&all, i);
	}
	add(&root, 0);
	CALL(rank ? &none : &all, MPI_Gatherv, given, counts[rank], MPI_INT, got, counts, places, MPI_INT, 0,
	     MPI_COMM_WORLD);
	CALL(rank && rank % 2 == 0 ? &root : &none, MPI_Scatterv, given, counts, places, MPI_INT, got, counts[rank],
	     MPI_INT, 0, MPI_COMM_WORLD);
	CALL(&all, MPI_Allgatherv, given, counts[rank], MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static MPI_Comm make_line(void)
{
	MPI_Comm line;
	int open = 0;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &line);
	return line;
}

static MPI_Comm make_star(void)
{
	int ends[MOST], edges[2 * MOST];
	MPI_Comm star;

	for (int i = 0; i < size; i++)
		ends[i] = size - 1 + i;
	for (int i = 0; i < size - 1; i++) {
		edges[i] = i + 1;
		edges[size - 1 + i] = 0;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &star);
	return star;
}

static MPI_Comm make_ring(void)
{
	int in[2] = { (rank + size - 1) % size, (rank + size - 2) % size };
	int out[2] = { (rank + 1) % size, (rank + 2) % size };
	int weights[2] = { 1, 1 };
	MPI_Comm ring;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, weights, 2, out, weights, MPI_INFO_NULL, 0, &ring);
	return ring;
}

int main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 3;
	MPI_Comm line, star, ring;
	char name[64];

	late = argc > 1 ? atoi(argv[1]) : 0;
	delay = (argc > 3 ? atoll(argv[3]) : 10) * 1000000;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof(name), "log.%d", rank);
	record = fopen(name, "w");
	if (!record || size > MOST || size % 2)
		return 1;
	line = make_line();
	star = make_star();
	ring = make_ring();
	for (step = 1; step <= steps; step++) {
		in_a_line(line);
		in_a_star(star);
		in_a_ring(ring);
		among_all();
		with_the_root();
		MPI_Barrier(MPI_COMM_WORLD);
		tprof_step(0);
	}
	fclose(record);
	MPI_Comm_free(&line);
	MPI_Comm_free(&star);
	MPI_Comm_free(&ring);
	MPI_Finalize();
	return 0;
}
