/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: counts calls that are too short and too many for two events each. An op is hot if its calls are short,
 * follow each other closely and contain no event. A further call of a hot op is pending when it begins: nothing is
 * written. If it ends like the calls before it, it is counted in a FOLD record in the thread's chunk, in place. So
 * there is nothing to flush, and a kill loses only the call that was being counted. If anything happens within the
 * call, its begin is written first, with the time at which it began (tpc_fold_settle), and it becomes an ordinary call.
 * For that the thread's chunk looks full while a call is pending: each record checks for room anyway.
 *
 * A call of the same function from the same place costs some hundred instructions: all that it needs is in a struct
 * tpc_fold_hot, which arch/x86_64/trampoline.S looks up and counts in by itself.
 *
 * Two time stamps are half of that cost. If a record of an op is soon full of calls that take no more than a few times
 * what it costs to time them, its next record times only a share of its calls. Each is chosen with the same
 * probability, independently of the others, so that nothing in the program can keep step with the choice. All calls are
 * counted. A call that is not timed is pending like any other: if something happens within it, it becomes a call with
 * events of its own that begins then.
 */
#ifndef TPROF_CORE_FOLD_H
#define TPROF_CORE_FOLD_H

#include "core/fold_state.h"

struct tpc_thread;

extern uint32_t tpc_fold_short
	TPC_NEAR; /* ticks: of calls that take longer on average, all are timed. 0: of all calls */

#define TPC_FOLD_MIX UINT64_C(0x9e3779b97f4a7c15) /* Knuth, TAOCP 6.4 */

/*
 * One dimension: the work is proportional to it, so sizes are combined by their power of two. Several dimensions: only
 * calls of exactly the same shape are combined, because their work does not simply add up.
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

/* The types of its operands. Those of a BLAS function never change; primitives of a library may differ only in them. */
static inline uint64_t tpc_fold_types(const struct tpc_work *work)
{
	uint64_t first = (uint64_t)work->dtype << 8;

	if (tpc_likely(!(work->flags & TPROF_WORK_TYPES)))
		return first;
	return first | (uint64_t)work->second << 16 | (uint64_t)work->result << 24;
}

/* The slot for calls of `op` with fold.work; *shape is set to the key of such calls. */
static inline struct tpc_fold_slot *tpc_fold_find(struct tpc_fold *fold, uint32_t op, uint64_t *shape)
{
	uint64_t of = (uint64_t)op << 8;

	if (fold->work.kind)
		of = (of | fold->work.flags) ^ (tpc_fold_shape(&fold->work) ^ tpc_fold_types(&fold->work)) << 32;
	of *= TPC_FOLD_MIX;
	*shape = of | 1;
	return &fold->slots[of >> 59];
}

/* Where calls of the function with that index from that place are kept. */
static inline struct tpc_fold_hot *tpc_fold_hot(struct tpc_fold *fold, uint32_t index, uintptr_t caller)
{
	return &fold->hots[(index + (uint32_t)caller) % TPC_FOLD_HOTS];
}

/*
 * `hot` is for calls of `op` with fold.work from now on, which belong to that slot. What is known of the place is
 * already filled in.
 */
void tpc_fold_fill(struct tpc_fold *fold, struct tpc_fold_hot *hot, struct tpc_fold_slot *slot, uint64_t shape,
		   uint32_t op);

/* Is a call that begins as `hot` to be timed? To be asked once for each call. */
static inline bool tpc_fold_times(struct tpc_fold *fold, const struct tpc_fold_hot *hot)
{
	return !hot->share || --fold->untimed < 0;
}

/* A call begins, and is pending from now on. `frame` and `start`: as in struct tpc_fold. */
static inline void tpc_fold_begin(struct tpc_fold *fold, uint8_t **limit, struct tpc_fold_hot *hot, uintptr_t frame,
				  uint64_t start)
{
	fold->hot = hot;
	fold->start = start;
	fold->frame = frame;
	*limit = NULL;
}

/*
 * An exception has passed a hooked call. Which calls it left is found out at the next event, on the stack on which the
 * program continues. As while a call is pending, the chunk looks full until then.
 */
void tpc_fold_throw(struct tpc_thread *thread, uint64_t now);

/* Postpones that. Returns what tpc_fold_throw() is to be told afterwards, or 0. */
uint64_t tpc_fold_hold_throw(struct tpc_thread *thread);

/* Ends the calls that were left, at the given time. Set once, before there are any. */
extern void (*tpc_fold_left)(struct tpc_thread *thread, uint64_t ticks);

/* Does tpc_fold_settle() have anything to do? */
static inline bool tpc_fold_unsettled(const struct tpc_fold *fold)
{
	return fold->frame || fold->thrown;
}

/* Writes the begin of the pending call, and ends calls that an exception left, if there are any. */
void tpc_fold_settle(struct tpc_thread *thread);

/*
 * The pending call ends. False: it can't be counted in a record, or there is no room for one. Then its begin was
 * written, and the caller must write its end.
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

/* Are further calls that belong to this slot, with that shape, to be pending? */
static inline bool tpc_fold_is_hot(const struct tpc_fold *fold, const struct tpc_fold_slot *slot, uint64_t shape)
{
	return tpc_unlikely(fold->heats & tpc_fold_bit(fold, slot)) && slot->shape == shape &&
	       slot->heat >= TPC_FOLD_HOT;
}

/* A call could not be folded. One in a hundred does little harm; with one in 16 the op never becomes hot. */
static inline void tpc_fold_cool(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t now)
{
	if (!slot->heat)
		fold->warm &= ~tpc_fold_bit(fold, slot);
	slot->heat = slot->heat > TPC_FOLD_COOLING ? slot->heat - TPC_FOLD_COOLING : 0;
	slot->since = now;
}

/* A call ended that was not pending, but could have been. */
void tpc_fold_warm_short(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t shape, uint64_t start,
			 uint64_t now);

/*
 * A call that asks whether something is there was not pending, and found nothing: there will be more, however much is done between them.
 * To be called before tpc_fold_warm_short().
 */
static inline bool tpc_fold_is_again(const struct tpc_fold_slot *slot, uint64_t shape, uint64_t start)
{
	return slot->shape == shape && start - slot->since < TPC_FOLD_POLL_GAP;
}

/* A call that was not pending ended: does its op become hot? `leaf`: it contained no event. */
static inline void tpc_fold_warm(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t shape, uint64_t start,
				 uint64_t now, bool leaf)
{
	if (leaf && now - start < TPC_FOLD_TICKS)
		tpc_fold_warm_short(fold, slot, shape, start, now);
	else if (fold->warm & tpc_fold_bit(fold, slot) && slot->shape == shape)
		tpc_fold_cool(fold, slot, now);
}

TPC_APART void tpc_fold_close_all(struct tpc_fold *fold);

/* The same, by the thread that takes the chunk of the fold's thread (core/reclaim.h). */
TPC_SLOW void tpc_fold_give_up(struct tpc_fold *fold);

/* Ends all records: their chunk ends, or what they were part of. Mostly there are none. */
static inline void tpc_fold_close(struct tpc_fold *fold)
{
	if (fold->counting)
		tpc_fold_close_all(fold);
}

/* Resets everything to the state at the thread's begin. */
void tpc_fold_reset(struct tpc_thread *thread);

#endif
