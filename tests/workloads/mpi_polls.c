/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_polls ROUNDS POLLS NS: in each round a process asks POLLS times in each way, in vain, whether a message from itself has come, with
 * NS between the questions; and then sends it, and asks until it has. Prints each function's calls and the ns in them, by its own clock.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum way { TEST, TESTALL, TESTANY, TESTSOME, IPROBE, IMPROBE, WAYS };
static const char *const names[WAYS] = { "MPI_Test",	 "MPI_Testall", "MPI_Testany",
					 "MPI_Testsome", "MPI_Iprobe",	"MPI_Improbe" };
static long calls[WAYS], spent[WAYS];
static int from[4], to[4];

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000l + time.tv_nsec;
}

static int ask_for_message(enum way way, MPI_Message *message)
{
	MPI_Status status;
	int flag = 0;

	if (way == IPROBE)
		MPI_Iprobe(0, way, MPI_COMM_SELF, &flag, &status);
	else
		MPI_Improbe(0, way, MPI_COMM_SELF, &flag, message, &status);
	return flag;
}

static int ask(enum way way, MPI_Request *request, MPI_Message *message)
{
	int flag = 0, index;
	MPI_Status status;

	switch (way) {
	case TEST:
		MPI_Test(request, &flag, &status);
		return flag;
	case TESTALL:
		MPI_Testall(1, request, &flag, &status);
		return flag;
	case TESTANY:
		MPI_Testany(1, request, &index, &flag, &status);
		return flag;
	case TESTSOME:
		MPI_Testsome(1, request, &flag, &index, &status);
		return flag;
	default:
		return ask_for_message(way, message);
	}
}

static int timed(enum way way, MPI_Request *request, MPI_Message *message)
{
	long begin = now();
	int found = ask(way, request, message);

	spent[way] += now() - begin;
	calls[way]++;
	return found;
}

static void pass(enum way way, int polls, long ns)
{
	MPI_Request request = MPI_REQUEST_NULL, sent;
	MPI_Message message = MPI_MESSAGE_NULL;

	if (way < IPROBE)
		MPI_Irecv(to, 4, MPI_INT, 0, way, MPI_COMM_SELF, &request);
	for (int i = 0; i < polls; i++) {
		long end = now() + ns;

		if (timed(way, &request, &message))
			exit(1);
		while (now() < end)
			;
	}
	MPI_Isend(from, 4, MPI_INT, 0, way, MPI_COMM_SELF, &sent);
	while (!timed(way, &request, &message))
		;
	if (way == IMPROBE)
		MPI_Mrecv(to, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
	else if (way == IPROBE)
		MPI_Recv(to, 4, MPI_INT, 0, way, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, polls = argc > 2 ? atoi(argv[2]) : 100;
	long ns = argc > 3 ? atol(argv[3]) : 0;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < rounds; i++)
		for (int way = 0; way < WAYS; way++)
			pass((enum way)way, polls, ns);
	for (int way = 0; way < WAYS; way++)
		printf("%s %ld %ld\n", names[way], calls[way], spent[way]);
	MPI_Finalize();
	return 0;
}
