/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the analysis of a parallel job finds: operations of its ranks, matched with one another, on one clock, with the time that each
 * waited, and for whom.
 */
#ifndef TPROF_MODEL_RANKS_RANKS_H
#define TPROF_MODEL_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ranks/calls.h"

#define TPA_RANK_NONE UINT32_MAX

/* The names are Scalasca's, but for the last one: it has none for collectives among neighbours. */
enum tpa_wait_pattern {
	TPA_WAIT_NONE,
	TPA_WAIT_AT_BARRIER,
	TPA_WAIT_AT_NXN,
	TPA_WAIT_LATE_BROADCAST,
	TPA_WAIT_EARLY_REDUCE,
	TPA_WAIT_EARLY_SCAN,
	TPA_WAIT_LATE_SENDER,
	TPA_WAIT_LATE_RECEIVER,
	TPA_WAIT_FOR_NEIGHBOURS,
	TPA_WAIT_PATTERNS,
};

/* "Wait at Barrier" */
const char *tpa_wait_pattern_name(enum tpa_wait_pattern pattern);

/*
 * One operation of one rank. Times are ns of the first rank's unix time, as far as clocks could be aligned. `post`: when it gave what others
 * wait for; `begin` to `end`: where it may have waited itself, which of non-blocking operations is the call that completes them.
 */
struct tpa_rank_op {
	int64_t post, begin, end;
	int64_t since; /* end of the rank's collective before this one, else its start: what it did meanwhile made it early or late */
	int64_t wait_ns;
	uint64_t sent, received; /* TPA_BYTES_UNKNOWN */
	uint64_t
		sequence; /* of the collective in its communicator, of the message between its two ranks with its tag */
	uint32_t rank;	  /* index in tpa_ranks.list */
	uint32_t call;	  /* index in the calls of its process */
	uint32_t communicator; /* index in tpa_ranks.communicators; TPA_RANK_NONE: not known */
	uint32_t place;	       /* rank in the communicator */
	uint32_t cause;	       /* index of the op that it waited for; TPA_RANK_NONE */
	uint32_t group;	       /* index of its group; TPA_RANK_NONE: no partner was found */
	uint32_t step;
	int32_t peer, tag, root;
	uint8_t kind, flow; /* enum tpa_comm_kind, enum tpa_comm_flow */
	bool started;	    /* non-blocking */
	bool counted; /* another op of the same call has its time: one call sends and receives, or completes several */
	bool open;    /* it is not known when it was complete: `begin` and `end` are its `post` */
};

/* Time in its call that was not waiting. */
static inline int64_t tpa_rank_op_transfer(const struct tpa_rank_op *op)
{
	return op->counted ? 0 : op->end - op->begin - op->wait_ns;
}

/* Operations that belong together: a collective, or the two ends of a message, the sender's first. */
struct tpa_rank_match {
	uint32_t first, count; /* in tpa_ranks.members, by rank in the communicator */
	uint32_t communicator;
	uint32_t late;	      /* op for which the others waited longest; TPA_RANK_NONE: nobody waited */
	int64_t wait_ns;      /* of all */
	int64_t late_wait_ns; /* for `late` */
	int64_t transfer_ns;  /* time in the calls that was not waiting, of all */
	int64_t gain_ns; /* by which it would be over earlier, had the late rank taken as long as the others' median */
	uint8_t pattern; /* enum tpa_wait_pattern, of most of the waiting */
	bool message;
	bool incomplete; /* ranks of the communicator are missing */
};

#define TPA_RANK_SIZES 65u /* [0]: empty messages; [n]: of 2^(n-1) bytes and more */

struct tpa_rank_communicator {
	char *name;		  /* "MPI_COMM_WORLD", "part 1 of MPI_COMM_WORLD" */
	uint32_t size;		  /* ranks that it has, as they say */
	uint32_t seen;		  /* ranks of which there is a trace */
	uint64_t calls, messages; /* calls of collectives; messages */
	uint64_t bytes;		  /* sent, by collectives and messages */
	int64_t wait_ns, transfer_ns;
	uint64_t sizes[TPA_RANK_SIZES]; /* calls and messages by bytes sent */
};

/* How a host's clock was set against that of the first rank's host. */
enum tpa_clock_source {
	TPA_CLOCK_OWN,	 /* it is the first rank's host */
	TPA_CLOCK_BOUND, /* collectives and messages bound it from both sides */
	TPA_CLOCK_HALF,	 /* they bound it from one side only: there is no error to state */
	TPA_CLOCK_NTP, /* NTP says how far this clock and the first one may be off, which bounds what calls leave open */
	TPA_CLOCK_TAKEN, /* nothing bounds it: its unix time is taken as it is */
};

struct tpa_rank_host {
	const char *name; /* NULL: not known */
	uint32_t ranks;
	enum tpa_clock_source source;
	bool contradictory; /* no line satisfies all bounds; error_ns is by how much they are missed */
	int64_t middle_ns;  /* time of its own clock at which offset_ns is meant */
	double offset_ns;   /* to be added to its times */
	double drift;	    /* by which offset_ns changes, ns a ns */
	double error_ns;    /* at most, anywhere in the run; NAN: not known */
	uint64_t bounds;    /* how many there were */
	struct tpa_rank_ntp
		ntp; /* of its ranks, the one with the largest error; unsynchronised if one of them says so */
};

struct tpa_rank {
	const struct tpa_rank_process *said;
	size_t process;	 /* index that the caller gave */
	uint32_t number; /* world rank */
	uint32_t host;
	uint32_t first, count;	      /* its operations in tpa_ranks.ops, in order of their calls */
	int64_t moved;		      /* as in struct tpa_rank_input */
	int64_t own_start;	      /* of its process, by its host's clock */
	int64_t start;		      /* of its process */
	int64_t begin, end;	      /* of its first and last call */
	int64_t wait_ns, transfer_ns; /* in its own calls */
	int64_t caused_ns;	      /* waiting of others for it */
	int64_t caused_error_ns;      /* by which clocks that differ may have changed caused_ns; -1: not known */
	int64_t gain_ns;	      /* sum of the gains of the groups in which it was late */
	int64_t path_ns;	      /* on the critical path */
	uint64_t late;		      /* groups in which it was late */
	uint64_t unmatched;	      /* operations without a partner */
};

/* All calls of one function, by its name in the first rank of each group. */
struct tpa_rank_function {
	const char *name;
	enum tpa_wait_pattern pattern; /* of most of the waiting */
	uint64_t groups, calls, bytes;
	int64_t wait_ns, transfer_ns, pattern_ns;
};

/* What a rank made others wait in one step. */
struct tpa_rank_late {
	uint32_t rank, step;
	uint64_t groups;
	int64_t caused_ns, gain_ns;
	uint32_t group; /* the one with most waiting */
};

/* A part of the critical path, on one rank. */
struct tpa_rank_piece {
	int64_t begin, end;
	uint32_t rank;
	uint32_t op; /* the late operation that ends it; TPA_RANK_NONE: the end of the run */
};

struct tpa_ranks {
	struct tpa_rank *list; /* by number */
	size_t count;
	uint32_t world; /* ranks of the job, as they say; 0: not known */
	struct tpa_rank_host *hosts;
	size_t host_count;
	struct tpa_rank_communicator *communicators;
	size_t communicator_count;
	struct tpa_rank_op *ops;
	size_t op_count;
	struct tpa_rank_match *groups; /* collectives first */
	size_t group_count;
	uint32_t *members;		     /* indexes of ops */
	struct tpa_rank_function *functions; /* of collectives, most waiting first */
	size_t function_count;
	struct tpa_rank_late *late; /* most waiting first */
	size_t late_count;
	struct tpa_rank_piece *path; /* in order of time */
	size_t path_count;
	int64_t begin, end;
	uint64_t collectives, messages; /* matched */
	uint64_t incomplete;		/* collectives of which a rank is missing */
	uint64_t unmatched;		/* operations without a partner */
	uint64_t disagreeing;		/* collectives whose ranks called different things */
	uint64_t lost;			/* calls whose events were lost, or that are damaged */
	int64_t wait_by[TPA_WAIT_PATTERNS];
	int64_t wait_ns, transfer_ns;
	double error_ns; /* largest of the hosts' errors; NAN: one is not known */
};

/* A time of the ranks as ns since the start of the rank's process, by its own clock. */
int64_t tpa_rank_own_time(const struct tpa_ranks *ranks, const struct tpa_rank *rank, int64_t time);

/* Frees all but what the ranks said. NULL: does nothing. */
void tpa_ranks_free(struct tpa_ranks *ranks);

#endif
