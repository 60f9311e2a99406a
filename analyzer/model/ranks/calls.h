/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls by which the processes of a parallel job communicate: the input of model/ranks. The replay fills it in; nothing in it is trusted, so
 * communicators, ranks and requests may be any number.
 */
#ifndef TPROF_MODEL_RANKS_CALLS_H
#define TPROF_MODEL_RANKS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tpa_comm_kind {
	TPA_COMM_COLLECTIVE,
	TPA_COMM_SEND, /* a call that sends and receives is there twice, as both, with the same times */
	TPA_COMM_RECEIVE,
	TPA_COMM_WAIT,	 /* completes `request`; a call that completes several is there once for each */
	TPA_COMM_CREATE, /* a collective of the parent that creates a communicator */
	TPA_COMM_ONE_SIDED,
	TPA_COMM_KINDS,
};

/* Who waits for whom, as the data flows. */
enum tpa_comm_flow {
	TPA_FLOW_NONE,	     /* nobody, or not known */
	TPA_FLOW_BARRIER,    /* all for all, without data */
	TPA_FLOW_ALL,	     /* all for all: allreduce, allgather, alltoall, reduce_scatter */
	TPA_FLOW_FROM_ROOT,  /* all for the root: bcast, scatter */
	TPA_FLOW_TO_ROOT,    /* the root for all: reduce, gather */
	TPA_FLOW_PREFIX,     /* each for all of lower rank: scan, exscan */
	TPA_FLOW_NEIGHBOURS, /* each for its sources in the communicator's topology */
	TPA_FLOW_PARTS,	     /* each for some of all: alltoallv and alltoallw with empty parts. Found while matching */
	TPA_FLOWS,
};

/* Whether the call lasts until the operation is done. */
enum tpa_comm_phase {
	TPA_PHASE_WHOLE,
	TPA_PHASE_START, /* it only starts it: a WAIT with the same request ends it, or none that was recorded */
};

#define TPA_COMM_UNKNOWN UINT32_MAX
#define TPA_BYTES_UNKNOWN UINT64_MAX
#define TPA_PEER_NOBODY (-2) /* MPI_PROC_NULL */
#define TPA_PARTS_ALL 0u
#define TPA_PARTS_UNKNOWN UINT32_MAX

struct tpa_comm_call {
	uint64_t begin, end; /* ns, unix time by the clock of its process */
	uint64_t
		sequence; /* COLLECTIVE, CREATE: its number among those of its communicator, from 1 on; 0: it has none */
	uint64_t sent, received; /* bytes of this rank; TPA_BYTES_UNKNOWN */
	uint64_t request;	 /* START, WAIT: number of the request, used for one operation only; 0: not known */
	uint32_t op;		 /* number of the op in its process */
	uint32_t thread;
	uint32_t stack;	       /* node of the stack of the call; 0: not known */
	uint32_t communicator; /* index in the process's list; TPA_COMM_UNKNOWN */
	uint32_t step;	       /* in which it began, counted from 1; 0: there are no steps */
	int32_t peer,
		tag; /* SEND, RECEIVE: rank in the communicator; -1: not known. Of the message, not what was asked for */
	int32_t root;	/* rank in the communicator; -1: none */
	uint32_t parts; /* which parts of what it receives are not empty: where its process has that; TPA_PARTS_ALL */
	uint8_t kind;	/* enum tpa_comm_kind */
	uint8_t flow;	/* enum tpa_comm_flow */
	uint8_t phase;	/* enum tpa_comm_phase */
};

/* A communicator as its process knows it. */
struct tpa_communicator {
	uint32_t size, rank; /* rank of this process in it */
	uint32_t
		parent; /* index of the one that it was made of, a lower number; TPA_COMM_UNKNOWN: none, then `name` tells it */
	uint64_t parent_sequence; /* `sequence` of the call that made it */
	int64_t color;		  /* tells those apart that one call made */
	const char *name;	  /* "MPI_COMM_WORLD"; NULL: it has none */
	const uint32_t
		*sources; /* of its topology: who sends this rank the parts of what it receives; `size`: nobody */
	uint32_t source_count;
};

/* What the kernel knew of the host's clock at the process's start, by NTP. */
struct tpa_rank_ntp {
	bool known; /* the rest is */
	bool synchronised;
	uint64_t max_error_ns, estimated_error_ns;
};

struct tpa_rank_process {
	bool joined; /* it has called MPI_Init, or the like. Otherwise it may be a shell or a child of a rank */
	uint32_t world_rank, world_size, local_rank; /* TPA_COMM_UNKNOWN: not known */
	const char *host, *job, *launcher, *cgroup;  /* NULL: not known */
	struct tpa_rank_ntp ntp;
	struct tpa_comm_call *calls; /* in order of begin */
	size_t call_count;
	/* From the byte at `parts` - 1 of a call on: a number of bytes, and so many with a bit for each part. */
	uint8_t *parts;
	size_t part_bytes;
	struct tpa_communicator *communicators;
	size_t communicator_count;
	uint64_t lost; /* calls that are missing: their events were lost */
};

#endif
