/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are too short and too many for two events each. An op whose calls are short, follow each other closely and
 * hold no event is hot, and its further calls are pending when they begin: nothing is written. If the call ends like
 * those before it, it is counted in a FOLD record in the thread's chunk, in place: there is nothing to flush, and a kill
 * loses the call that was being counted. If anything happens within it, its begin is written before that, with the time
 * at which it began (tpc_fold_settle), and it is a call like any other. For that the thread's chunk looks full while a
 * call is pending: the check for room, which each record makes anyway, finds it.
 *
 * A call like the one before it, of the same function from the same place, costs some hundred instructions: all that is
 * needed for it stands in a struct tpc_fold_hot, which arch/x86_64/trampoline.S finds and counts by itself.
 *
 * Two time stamps are half of that. Once a record of an op was full, soon, of calls that take no more than some times what
 * it costs to time them, its next record times a share of its calls only: each with the same chance, drawn independently of
 * all others, so that nothing in the program can keep step with it. All are counted. One that is not timed is pending like
 * any other: if something happens in it, it becomes a call with events of its own, that begins then.
 */
#ifndef TPROF_CORE_FOLD_H
#define TPROF_CORE_FOLD_H

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

struct tpc_thread;

extern uint32_t tpc_fold_short
	TPC_NEAR; /* ticks: of calls that take longer on average, all are timed. 0: of all calls */

#define TPC_FOLD_MIX UINT64_C(0x9e3779b97f4a7c15) /* Knuth, TAOCP 6.4 */

/*
 * One dimension: kinds whose work is proportional to it, put together by its power of two. Several: calls of the very
 * same shape only, as their work is no simple sum.
 */
static inline uint64_t tpc_fold_size(uint64_t dim)
{
	return 64 - (uint64_t)__builtin_clzll(dim | 1);
}

static inline uint64_t tpc_fold_shape(const struct tpc_work *work)
{
	uint64_t key = 0;

	if (tpc_likely(work->dims == 1))
		return tpc_fold_size(work->dim[0]);
	for (uint32_t i = 0; i < work->dims; i++)
		key = (key ^ work->dim[i]) * TPC_FOLD_MIX;
	return key ^ key >> 32;
}

/* A BLAS function's are always the same; a library's primitives may differ in nothing else. */
static inline uint64_t tpc_fold_types(const struct tpc_work *work)
{
	uint64_t first = (uint64_t)work->dtype << 8;

	if (tpc_likely(!(work->flags & TPROF_WORK_TYPES)))
		return first;
	return first | (uint64_t)work->second << 16 | (uint64_t)work->result << 24;
}

/* The slot for calls of `op` with fold.work; *shape is what is theirs. */
static inline struct tpc_fold_slot *tpc_fold_find(struct tpc_fold *fold, uint32_t op, uint64_t *shape)
{
	uint64_t of = (uint64_t)op << 8;

	if (fold->work.kind)
		of = (of | fold->work.flags) ^ (tpc_fold_shape(&fold->work) ^ tpc_fold_types(&fold->work)) << 32;
	of *= TPC_FOLD_MIX;
	*shape = of | 1;
	return &fold->slots[of >> 59];
}

/* Where calls of the function with that index from that place are. */
static inline struct tpc_fold_hot *tpc_fold_hot(struct tpc_fold *fold, uint32_t index, uintptr_t caller)
{
	return &fold->hots[(index + (uint32_t)caller) % TPC_FOLD_HOTS];
}

/* From here on it is of calls of `op` with fold.work, whose slot that is. What is known of the place stands already. */
void tpc_fold_fill(struct tpc_fold *fold, struct tpc_fold_hot *hot, struct tpc_fold_slot *slot, uint64_t shape,
		   uint32_t op);

/* Is a call that begins as `hot` to be timed? Asked once a call. */
static inline bool tpc_fold_times(struct tpc_fold *fold, const struct tpc_fold_hot *hot)
{
	return !hot->share || --fold->untimed < 0;
}

/* A call begins: it is pending from here on. `frame`, `start`: as fold's. */
static inline void tpc_fold_begin(struct tpc_fold *fold, uint8_t **limit, struct tpc_fold_hot *hot, uintptr_t frame,
				  uint64_t start)
{
	fold->hot = hot;
	fold->start = start;
	fold->frame = frame;
	*limit = NULL;
}

/*
 * An exception goes past a hooked call. Whose that is, and which are left with it, is found out when the next event comes, on the
 * stack that the program goes on with: as while a call is pending, the chunk looks full until then.
 */
void tpc_fold_throw(struct tpc_thread *thread, uint64_t now);

/* Nobody is to find that out now. Returns what tpc_fold_throw() is to be told again, or 0. */
uint64_t tpc_fold_hold_throw(struct tpc_thread *thread);

/* Ends the calls that were left, at that time. Set once, before there is any. */
extern void (*tpc_fold_left)(struct tpc_thread *thread, uint64_t ticks);

/* Is there anything for tpc_fold_settle()? */
static inline bool tpc_fold_unsettled(const struct tpc_fold *fold)
{
	return fold->frame || fold->thrown;
}

/* Writes the pending call's begin after all, and ends what an exception left; if there is anything of these. */
void tpc_fold_settle(struct tpc_thread *thread);

/*
 * The pending call ends. False: it is none for a record, or there is no room for one; its begin was written, its end is to be.
 */
bool tpc_fold_end(struct tpc_thread *thread, uint64_t now);

static inline uint32_t tpc_fold_bit(const struct tpc_fold *fold, const struct tpc_fold_slot *slot)
{
	return UINT32_C(1) << (slot - fold->slots);
}

static inline void tpc_fold_heat(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint32_t heat)
{
	slot->heat = heat;
	fold->warm |= heat ? tpc_fold_bit(fold, slot) : 0;
	fold->heats |= heat >= TPC_FOLD_HOT ? tpc_fold_bit(fold, slot) : 0;
}

/* Are further calls, whose slot and shape these are, to be pending? */
static inline bool tpc_fold_is_hot(const struct tpc_fold *fold, const struct tpc_fold_slot *slot, uint64_t shape)
{
	return tpc_unlikely(fold->heats & tpc_fold_bit(fold, slot)) && slot->shape == shape &&
	       slot->heat >= TPC_FOLD_HOT;
}

/* A call was none that can be folded. One in a hundred does little harm; one in 16, and the op never becomes hot. */
static inline void tpc_fold_cool(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t now)
{
	if (!slot->heat)
		fold->warm &= ~tpc_fold_bit(fold, slot);
	slot->heat = slot->heat > TPC_FOLD_COOLING ? slot->heat - TPC_FOLD_COOLING : 0;
	slot->since = now;
}

/* A call ended that was not pending, and could have been. */
void tpc_fold_warm_short(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t shape, uint64_t start,
			 uint64_t now);

/* A call that was not pending ended: does its op become hot? `leaf`: no event happened in it. */
static inline void tpc_fold_warm(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t shape, uint64_t start,
				 uint64_t now, bool leaf)
{
	if (leaf && now - start < TPC_FOLD_TICKS)
		tpc_fold_warm_short(fold, slot, shape, start, now);
	else if (fold->warm & tpc_fold_bit(fold, slot) && slot->shape == shape)
		tpc_fold_cool(fold, slot, now);
}

TPC_APART void tpc_fold_close_all(struct tpc_fold *fold);

/* Records go on no further: their chunk ends, or what they were part of. Mostly there are none. */
static inline void tpc_fold_close(struct tpc_fold *fold)
{
	if (fold->counting)
		tpc_fold_close_all(fold);
}

/* All is as at the thread's begin. */
void tpc_fold_reset(struct tpc_thread *thread);

#endif
