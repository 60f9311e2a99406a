/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the trace format: calls by which the processes of a parallel job communicate. A COMM event tells what such a call
 * was asked for, COMM_DONE events what it or an earlier call completed, and the tables' COMMUNICATOR records who the
 * members are. A number never changes its meaning.
 *
 * A reader matches communicators, calls and messages of different processes by these rules:
 *   - a communicator is the same in two processes if both are of the same kind and have the same name (those without a
 *     parent), or if they were made by the same call of the same parent (its sequence) and have the same rank of the world
 *     as their rank 0: what one call makes has no member in common;
 *   - a collective call is the same if its communicator and sequence are. All calls that a communicator's members make
 *     together count in its sequence, 1, 2, ...; also those that begin only (NONBLOCKING), those that describe a persistent
 *     one, and those that make or free a communicator. Who waits for whom in a collective among neighbours is told by the
 *     communicator's topology, and where parts are empty by PARTS;
 *   - messages between two processes with the same tag arrive in the order in which they were sent.
 */
#ifndef TPROF_COMM_H
#define TPROF_COMM_H

/* What is asked for. `peer` is the root of those that have one. */
enum tprof_comm {
	TPROF_COMM_NONE = 0,

	/* All members together. */
	TPROF_COMM_BARRIER = 1,
	TPROF_COMM_BCAST = 2,
	TPROF_COMM_REDUCE = 3,
	TPROF_COMM_ALLREDUCE = 4,
	TPROF_COMM_GATHER = 5,
	TPROF_COMM_SCATTER = 6,
	TPROF_COMM_ALLGATHER = 7,
	TPROF_COMM_ALLTOALL = 8,
	TPROF_COMM_REDUCE_SCATTER = 9,
	TPROF_COMM_SCAN = 10,
	TPROF_COMM_EXSCAN = 11,
	TPROF_COMM_NEIGHBOR_ALLGATHER = 12,
	TPROF_COMM_NEIGHBOR_ALLTOALL = 13,
	TPROF_COMM_CREATE = 14, /* makes a communicator, or a window */
	TPROF_COMM_FREE = 15,
	TPROF_COMM_FENCE = 16, /* of a window */
	TPROF_COMM_INIT = 17,  /* of the library */
	TPROF_COMM_FINALIZE = 18,
	TPROF_COMM_COLLECTIVES, /* the numbers below are of such calls */

	/* With a peer; -1: any, or none. */
	TPROF_COMM_SEND = 32,
	TPROF_COMM_SSEND = 33, /* returns once the receiver has begun to receive */
	TPROF_COMM_BSEND = 34,
	TPROF_COMM_RSEND = 35,
	TPROF_COMM_RECV = 36,
	TPROF_COMM_SENDRECV = 37,
	TPROF_COMM_PROBE = 38,

	/* Of requests. */
	TPROF_COMM_WAIT = 48, /* until it is complete: `request`, or several (0) */
	TPROF_COMM_TEST = 49, /* whether it is */

	/* Of windows. */
	TPROF_COMM_PUT = 64,
	TPROF_COMM_GET = 65,
	TPROF_COMM_ACCUMULATE = 66, /* both directions, if it fetches */
	TPROF_COMM_LOCK = 67,
	TPROF_COMM_UNLOCK = 68,
	TPROF_COMM_FLUSH = 69,
	TPROF_COMM_POST = 70,
	TPROF_COMM_START = 71,
	TPROF_COMM_COMPLETE = 72,
	TPROF_COMM_WIN_WAIT = 73,
};

enum tprof_comm_flags {
	TPROF_COMM_NONBLOCKING = 1, /* it only begins; a COMM_DONE with its request tells when it was found complete */
	TPROF_COMM_PERSISTENT = 2,  /* it was described before, and begins again */
	TPROF_COMM_PARTS = 4, /* parts of what it receives are empty, and a bit for each part tells which are not */
};

/* The n-th start of a collective has n times that added to the sequence of the call that described it. */
#define TPROF_COMM_START_SEQUENCE (UINT64_C(1) << 40)

#define TPROF_COMM_PARTS_BYTES 48u /* of these bits, at most: eight parts a byte */

enum tprof_comm_done {
	TPROF_COMM_DONE_STATUS = 1,    /* source, tag and bytes are known */
	TPROF_COMM_DONE_CANCELLED = 2, /* it did not take place */
	TPROF_COMM_DONE_FREED = 4,     /* nobody will ask whether it is complete */
};

/* What a COMMUNICATOR record is about. */
enum tprof_group {
	TPROF_GROUP_WORLD = 1, /* MPI_COMM_WORLD, or the default group of torch.distributed: all processes of the job */
	TPROF_GROUP_SELF = 2,  /* MPI_COMM_SELF */
	TPROF_GROUP_COMMUNICATOR = 3,
	TPROF_GROUP_INTER = 4, /* an intercommunicator: peers are of the other group, whose members are not told */
	TPROF_GROUP_WINDOW = 5,
	TPROF_GROUP_TORCH = 6, /* another group of torch.distributed, known by its name */
};

enum tprof_group_flags {
	TPROF_GROUP_NOBODY = 1, /* of its neighbours MPI_PROC_NULL is told as its size; without this, as 0 */
};

#define TPROF_COMM_ANY (-1)    /* peer, tag: any; or there is none */
#define TPROF_COMM_NOBODY (-2) /* peer: MPI_PROC_NULL */

#endif
