/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread keeps for core/fold.h, which says what the calls of an op go through. */
#ifndef TPROF_CORE_FOLD_STATE_H
#define TPROF_CORE_FOLD_STATE_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_FOLD_SLOTS 32u
#define TPC_FOLD_HOTS 64u
#define TPC_FOLD_HOT 1024u	 /* calls that follow closely until an op is hot */
#define TPC_FOLD_TICKS 8192u	 /* what is not shorter is not folded: 2 to 4 microseconds */
#define TPC_FOLD_GAP 32768u	 /* ticks to the next call at most, or it makes its op no hotter */
#define TPC_FOLD_SPAN (1u << 28) /* ticks that a record is about at most: 0.07 to 0.3 seconds */
#define TPC_FOLD_FEW 16u	 /* records of fewer calls than that are no gain: the op is not hot any more */
#define TPC_FOLD_COOLING 16u	 /* heat that a call which could not be folded takes away */
#define TPC_FOLD_PARTS 7u	 /* arguments that tell what a call works on */
#define TPC_FOLD_FULL 4096u   /* calls of a record all of which are timed: many threads live for no more than 10,000 */
#define TPC_FOLD_OFTEN 16384u /* ticks between two calls, at most, for a share to be timed in the next record */
#define TPC_FOLD_SURPRISES 4096u /* one call in so many, at most, had something happen in it */
#define TPC_FOLD_LONG 6u	 /* a long call that was timed stands for so many of these at least */
#define TPC_FOLD_WORTH 16u	 /* what is longer than so many times the cost of timing it is always timed */

/* What a typed kernel works on; see include/tprof/work.h. */
struct tpc_work {
	uint16_t kind;		/* enum tprof_work; 0: not typed */
	uint8_t dtype;		/* enum tprof_dtype */
	uint8_t flags, dims;	/* dims: how many */
	uint8_t second, result; /* enum tprof_dtype, with TPROF_WORK_TYPES: of the other tensors */
	uint64_t dim[TPROF_WORK_DIMS];
};

/* Calls of an op that work on the like. */
struct tpc_fold_slot {
	uint64_t shape;		  /* of op and work; 0: free */
	uint64_t since;		  /* ticks: the end of the last call that was not counted, or the record's begin */
	struct tprof_fold *count; /* its record in the thread's chunk; NULL: none that can go on */
	uint64_t began;		  /* ticks: the record */
	uint64_t dim;		  /* the record's one dimension */
	uint64_t scope;		  /* of the record */
	uint32_t heat;
	uint32_t timed;	    /* calls of the record that were */
	uint32_t surprises; /* calls that began while it was the record, and could not be counted in it, or were long */
	bool share;	    /* in this record: a share of the calls is timed */
	bool next_share;    /* the same of the next record */
};

/* Of the calls of a record a share is timed; ... */
enum tpc_fold_share {
	TPC_FOLD_SHARE_NONE, /* all are */
	TPC_FOLD_SHARE_PLAIN,
	TPC_FOLD_SHARE_WINDOW, /* and there are stack arguments */
};

/* Calls of a hot op from one place: what the trampoline needs(arch/x86_64/trampoline.S). */
struct tpc_fold_hot {
	uint64_t key;		  /* index of the function, and the scope; 0: no call is like these */
	uintptr_t caller;	  /* return address */
	void *function;		  /* to be called */
	uintptr_t copy;		  /* the trampoline's code that copies the stack arguments */
	struct tprof_fold *count; /* the record; NULL: none yet */
	uint64_t until;		  /* ticks up to which it counts calls; 0: none at all */
	uint64_t units;		  /* what it adds to count->units */
	uint32_t epoch;		  /* tpc_frames_epoch up to which the caller's code is what it was */
	uint8_t align;		  /* bytes left free above the stack arguments */
	uint8_t share;		  /* of the calls in *count: enum tpc_fold_share */
	uint16_t typed;		  /* arguments tell what the call works on: `raw` are their values */
	uint32_t window;	  /* bytes of stack arguments */
	uint32_t op;
	uint64_t raw[TPC_FOLD_PARTS];
	struct tpc_fold_slot *slot;
	uint64_t shape; /* the slot's, unless it is another's by now */
	struct tpc_work work;
} __attribute__((aligned(64)));

/* Of a thread. */
struct tpc_fold {
	/* The trampoline's. */
	uintptr_t
		frame; /* of the call that is pending; its lowest bit: its end is not the trampoline's to count. 0: none is */
	uint64_t start;		  /* ticks at which it began; 0: it is not timed, or none is pending */
	struct tpc_fold_hot *hot; /* and what it is */
	uint64_t scope;		  /* number of the innermost open op's call, or of none, in the upper half */
	uintptr_t outer;	  /* that op's frame; UINTPTR_MAX: none is open */
	int32_t untimed;	  /* calls that are not timed, of those of which a share is; then one is */
	uint32_t scopes;	  /* given out */
	/* What is not hot is not looked for: it would be a cache line each, of very many. */
	uint64_t filled;      /* bit i: hots[i] is not empty */
	uint32_t warm, heats; /* bit i: slots[i] may be warm; may be hot */

	struct tpc_fold_hot hots[TPC_FOLD_HOTS];
	uint64_t stop;	  /* ticks at which the call of which a share is timed ended; 0: not known */
	uint64_t thrown;  /* ticks at which an exception went past hooked calls, which are still open; 0: none did */
	uintptr_t ending; /* frame of the call that ends, while room is made for that; else 0 */
	bool counting;	  /* there may be a record that goes on */
	uint64_t random;  /* of the draw; 0: not begun */
	const uint8_t *written; /* core/scope.h: where the record ends that opens or shuts an op, or NULL */
	uint32_t written_depth; /* and how many are open then */
	struct tpc_work work;	/* of the call that begins */
	struct tpc_fold_slot slots[TPC_FOLD_SLOTS];
} __attribute__((aligned(64)));

#endif
