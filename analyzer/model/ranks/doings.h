/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks did before the collectives to which one of them came late: the time since each one's last collective, by op, by CPU
 * samples, and by what they waited in. What the late one did longer than the others is why it was late.
 *
 * A case is what one rank made the others wait in one step (struct tpa_rank_late). Each rank has windows for it: the time from its last
 * collective to each one of the case. Times are ns since the start of the rank's process. A second reading of the traces tells what was
 * done in them, in order of time for each thread. Ranks may be told of at the same time, each by one thread.
 */
#ifndef TPROF_MODEL_RANKS_DOINGS_H
#define TPROF_MODEL_RANKS_DOINGS_H

#include "base/pairs.h"
#include "model/ranks/ranks.h"

enum tpa_doing_kind { TPA_DOING_OP, TPA_DOING_SAMPLE, TPA_DOING_WAIT };

struct tpa_doing {
	uint32_t rank, late; /* late: index in tpa_ranks.late */
	uint8_t kind;	     /* enum tpa_doing_kind */
	uint32_t what;	     /* OP: op of its process, 0: none was open; SAMPLE, WAIT: node of its stack */
	uint32_t op;	     /* WAIT: it has the name of the function */
	int64_t ns;	     /* of the thread that communicates; CPU time of all threads */
};

/* A rank in a case. */
struct tpa_doing_sum {
	int64_t ns;	/* length of its windows */
	int64_t cpu_ns; /* CPU time of the thread that communicates, by samples */
	double faults;	/* page faults of the process, as far as they were counted near the windows */
	uint64_t samples;
};

/* What a rank did, in the order in which it was told first. */
struct tpa_doing_list {
	struct tpa_doing *list;
	size_t count, room;
	struct tpa_pairs index; /* (kind and case, what) to an index in the list + 1 */
};

struct tpa_doings {
	const struct tpa_ranks *ranks;
	size_t case_count;	      /* the first of ranks->late */
	struct tpa_doing_sum *sums;   /* [case * ranks->count + rank] */
	struct tpa_doing_list *lists; /* by rank */
	struct tpa_doings_impl *impl;
};

/* `most`: how many cases. `ranks` must outlive the result. */
struct tpa_doings *tpa_doings_new(const struct tpa_ranks *ranks, size_t most);
void tpa_doings_free(struct tpa_doings *doings);

/* Whether the rank is in a case; of all others there is nothing to tell. */
bool tpa_doings_asks(const struct tpa_doings *doings, uint32_t rank);

/* From `from` to `to` the op was the innermost that was open on the thread. */
void tpa_doings_op(struct tpa_doings *doings, uint32_t rank, uint32_t thread, int64_t from, int64_t to, uint32_t op);

/* From `from` to `to` the thread was in a function that may wait, whose name the op has, called with that stack. */
void tpa_doings_wait(struct tpa_doings *doings, uint32_t rank, uint32_t thread, int64_t from, int64_t to, uint32_t op,
		     uint32_t node);

/* A CPU sample of any thread. */
void tpa_doings_sample(struct tpa_doings *doings, uint32_t rank, uint32_t thread, int64_t at, int64_t cpu_ns,
		       uint32_t node);

/* The process had that many page faults between the two times. */
void tpa_doings_faults(struct tpa_doings *doings, uint32_t rank, int64_t from, int64_t to, uint64_t faults);

#endif
