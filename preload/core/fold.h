/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are too short and too many for two events each. An op whose calls are short, follow each other closely and
 * hold no event is hot, and its further calls are pending when they begin: nothing is written. If the call ends like
 * those before it, it is counted in a FOLD record in the thread's chunk, in place: there is nothing to flush, and a kill
 * loses the call that was being counted. If anything happens within it, its begin is written before that, with the time
 * at which it began (tp_fold_settle), and it is a call like any other. For that the thread's chunk looks full while a
 * call is pending: the check for room, which each record makes anyway, finds it.
 */
#ifndef TPROF_CORE_FOLD_H
#define TPROF_CORE_FOLD_H

#include <tprof/format.h>

#include "core/base.h"

#define TP_FOLD_SLOTS 32u
#define TP_FOLD_HOT 1024u	/* calls until an op is hot */
#define TP_FOLD_TICKS 8192u	/* what is not shorter is not folded: 2 to 4 microseconds */
#define TP_FOLD_GAP 32768u	/* ticks from one call to the next that hot calls take at most, on average */
#define TP_FOLD_SPAN (1u << 28) /* ticks that a record is about at most: 0.07 to 0.3 seconds */
#define TP_FOLD_FEW 16u		/* records of fewer calls than that are no gain: the op is not hot any more */
#define TP_FOLD_COOLING 64u	/* heat that a call which could not be folded takes away */

/* What a typed kernel works on; see include/tprof/work.h. */
struct tp_work {
	uint16_t kind;	     /* enum tprof_work; 0: not typed */
	uint8_t dtype;	     /* enum tprof_dtype */
	uint8_t flags, dims; /* dims: how many */
	uint64_t dim[TPROF_WORK_DIMS];
};

struct tp_fold_slot {
	uint64_t key;		  /* of op and shape; 0: free */
	uint64_t since;		  /* ticks: when `heat` was 1; of a hot op, when its record began */
	struct tprof_fold *count; /* its record in the thread's chunk; NULL: none that can go on */
	uint64_t dim;		  /* the record's one dimension */
	uint32_t heat;
	uint32_t scope; /* of the record */
};

/* Of a thread. */
struct tp_fold {
	uint32_t pending; /* op whose call began and was not written; 0: none */
	uint32_t scope;	  /* number of the innermost open op's call; 0: none is open */
	uint32_t scopes;  /* given out */
	uint64_t start;	  /* ticks at which the pending call began */
	uint8_t *limit;	  /* the thread's, while a call is pending */
	struct tp_fold_slot *slot;
	struct tp_work work; /* of the call that begins, or is pending */
	struct tp_fold_slot slots[TP_FOLD_SLOTS];
};

struct tp_thread;

#define TP_FOLD_MIX UINT64_C(0x9e3779b97f4a7c15) /* Knuth, TAOCP 6.4 */

/*
 * One dimension: kinds whose work is proportional to it, put together by its power of two. Several: calls of the very
 * same shape only, as their work is no simple sum.
 */
static inline uint64_t tp_fold_shape(const struct tp_work *work)
{
	uint64_t key = 0;

	if (tp_likely(work->dims == 1))
		return 64 - (uint64_t)__builtin_clzll(work->dim[0] | 1);
	for (uint32_t i = 0; i < work->dims; i++)
		key = (key ^ work->dim[i]) * TP_FOLD_MIX;
	return key ^ key >> 32;
}

/* The slot for calls of `op` with fold.work; *key is what is theirs. */
static inline struct tp_fold_slot *tp_fold_find(struct tp_fold *fold, uint32_t op, uint64_t *key)
{
	uint64_t of = (uint64_t)op << 8;

	if (fold->work.kind)
		of = (of | fold->work.flags) ^ tp_fold_shape(&fold->work) << 32;
	of *= TP_FOLD_MIX;
	*key = of | 1;
	return &fold->slots[of >> 59];
}

/* A call of `op` begins: it is pending from here on. */
void tp_fold_begin(struct tp_thread *thread, struct tp_fold_slot *slot, uint32_t op, uint64_t start);

/* Writes the pending call's begin after all. */
void tp_fold_settle(struct tp_thread *thread);

/*
 * The pending call ends. False: it was too long, or there is no room for a record; its begin was written, its end is to be.
 */
bool tp_fold_end(struct tp_thread *thread, uint64_t now);

/* A call that was not pending ended: does its op become hot? `leaf`: no event happened in it. */
void tp_fold_warm(struct tp_fold_slot *slot, uint64_t key, uint64_t start, uint64_t now, bool leaf);

/* Records go on no further: their chunk ends, or what they were part of. */
void tp_fold_close(struct tp_fold *fold);

/* All is as at the thread's begin. */
void tp_fold_reset(struct tp_thread *thread);

#endif
