/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's state for core/fold.h, which explains it. */
#ifndef TPROF_CORE_FOLD_STATE_H
#define TPROF_CORE_FOLD_STATE_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_FOLD_SLOTS 32u
#define TPC_FOLD_HOTS 64u
#define TPC_FOLD_HOT 1024u   /* calls in close succession until an op is hot */
#define TPC_FOLD_TICKS 8192u /* longer calls are not folded: 2 to 4 microseconds */
#define TPC_FOLD_GAP 32768u  /* calls further apart, in ticks, do not heat the op */
/* The last two of calls that ask whether something is there (TPC_FOLD_POLL): 30 to 130 microseconds, 1 to 4 milliseconds */
#define TPC_FOLD_POLL_TICKS (1u << 17)
#define TPC_FOLD_POLL_GAP (1u << 22)
#define TPC_FOLD_SPAN (1u << 28) /* ticks that a record covers at most: 0.07 to 0.3 seconds */
#define TPC_FOLD_FEW 16u	 /* if a record ends with fewer calls, the op is no longer hot */
#define TPC_FOLD_COOLING 16u	 /* heat that is lost with a call that could not be folded */
#define TPC_FOLD_PARTS 7u	 /* arguments that tell what a call works on */
#define TPC_FOLD_FULL 4096u	 /* calls of a record in which all are timed: many threads make no more than 10,000 */
#define TPC_FOLD_OFTEN 16384u	 /* at most so many ticks between calls, for the next record to time a share */
#define TPC_FOLD_SURPRISES 4096u /* at most one call in this many had events within it, or was long */
#define TPC_FOLD_LONG 6u	 /* a long timed call counts as this many of them */
#define TPC_FOLD_WORTH 16u	 /* calls longer than this many times the cost of timing are all timed */

/* What a typed kernel works on; see include/tprof/work.h. */
struct tpc_work {
	uint16_t kind;		/* enum tprof_work; 0: not typed */
	uint8_t dtype;		/* enum tprof_dtype */
	uint8_t flags, dims;	/* dims: how many */
	uint8_t second, result; /* enum tprof_dtype of the other tensors, with TPROF_WORK_TYPES */
	uint64_t dim[TPROF_WORK_DIMS];
};

/* Calls of one op that do similar work. */
struct tpc_fold_slot {
	uint64_t shape;		  /* of op and work; 0: free */
	uint64_t since;		  /* ticks: end of the last call that was not counted, or begin of the record */
	struct tprof_fold *count; /* its open record in the thread's chunk; NULL: none */
	uint64_t began;		  /* ticks: begin of the record */
	uint64_t dim;		  /* the record's one dimension */
	uint64_t scope;		  /* of the record */
	uint32_t heat;
	uint32_t timed;	    /* timed calls of the record */
	uint32_t surprises; /* calls since the record's begin that could not be counted, or were long */
	bool share;	    /* in this record only a share of the calls is timed */
	bool next_share;    /* the same of the next record */
};

/* Which calls of a record are timed. */
enum tpc_fold_share {
	TPC_FOLD_SHARE_NONE, /* all are */
	TPC_FOLD_SHARE_PLAIN,
	TPC_FOLD_SHARE_WINDOW, /* a share, and there are stack arguments */
};

/* Calls of a hot op from one place: what trampoline.S needs. */
struct tpc_fold_hot {
	uint64_t key;	  /* index of the function, and the scope; 0: unused */
	uintptr_t caller; /* return address */
	union {
		void *function;	    /* the function to call */
		const void *ending; /* TPC_FOLD_POLL: as in struct tpc_open_op, if it gets events of its own */
	};
	uintptr_t copy;		  /* the trampoline's code that copies the stack arguments */
	struct tprof_fold *count; /* the record; NULL: none yet */
	uint64_t until;		  /* ticks until which the record counts calls; 0: there is none */
	uint64_t units;		  /* what it adds to count->units */
	uint32_t epoch;		  /* tpc_frames_epoch up to which the caller's code is unchanged */
	uint8_t align;		  /* bytes left free above the stack arguments */
	uint8_t share;		  /* of the calls in *count: enum tpc_fold_share */
	uint16_t typed;		  /* `raw` are the values of the arguments that tell its work */
	uint32_t window;	  /* bytes of stack arguments */
	uint32_t op;
	uint64_t raw[TPC_FOLD_PARTS];
	struct tpc_fold_slot *slot;
	uint64_t shape; /* the slot's, unless another op has taken the slot */
	struct tpc_work work;
} __attribute__((aligned(64)));

#define TPC_FOLD_POLL 16u /* tpc_fold_hot.typed: asks whether something is there; trampoline.S knows nothing of it */

/* Of what function the call's end calls for more than its event; NULL: none. */
static inline const void *tpc_fold_ending(const struct tpc_fold_hot *hot)
{
	return hot->typed & TPC_FOLD_POLL ? hot->ending : NULL;
}

/* The state of one thread. */
struct tpc_fold {
	/* Used by the trampoline. */
	uintptr_t frame;	  /* of the pending call; lowest bit: the trampoline must not count its end. 0: none */
	uint64_t start;		  /* ticks at which it began; 0: it is not timed, or none is pending */
	struct tpc_fold_hot *hot; /* the pending call */
	uint64_t scope;		  /* in the upper half: number of the innermost open op's call, or of none */
	uintptr_t outer;	  /* that op's frame; UINTPTR_MAX: none is open */
	int32_t untimed;	  /* where a share is timed: calls until the next timed one */
	uint32_t scopes;	  /* given out */
	/* Entries without a bit are not looked at: each of very many would cost a cache line. */
	uint64_t filled;      /* bit i: hots[i] is not empty */
	uint32_t warm, heats; /* bit i: slots[i] may be warm; may be hot */

	struct tpc_fold_hot hots[TPC_FOLD_HOTS];
	uint64_t stop;		/* where a share is timed: ticks at which the call ended; 0: unknown */
	uint64_t thrown;	/* ticks at which an exception passed hooked calls that are still open; 0: none */
	uintptr_t ending;	/* frame of the ending call, while room is made for its end; else 0 */
	bool counting;		/* there may be an open record */
	uint64_t random;	/* generator of the draw; 0: not seeded */
	const uint8_t *written; /* core/scope.h: end of the record that opens or closes an op, or NULL */
	uint32_t written_depth; /* the depth after that record */
	struct tpc_work work;	/* work of the call that begins */
	struct tpc_fold_slot slots[TPC_FOLD_SLOTS];
} __attribute__((aligned(64)));

#endif
