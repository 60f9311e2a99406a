/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fold.h"

#include "core/emit.h"
#include "core/scope.h"

/* ---- a call that is pending ---- */

void tp_fold_fill(struct tp_fold *fold, struct tp_fold_hot *hot, struct tp_fold_slot *slot, uint64_t shape, uint32_t op)
{
	struct tprof_fold *count = slot->scope == fold->scope ? slot->count : NULL;
	const struct tp_work *work = &fold->work;

	hot->op = op;
	hot->slot = slot;
	hot->shape = shape;
	hot->units = work->kind && work->dims == 1 ? work->dim[0] : 0;
	hot->work.kind = work->kind;
	if (work->kind) {
		hot->work.dtype = work->dtype;
		hot->work.flags = work->flags;
		hot->work.dims = work->dims;
		for (uint32_t i = 0; i < work->dims; i++)
			hot->work.dim[i] = work->dim[i];
	}
	/* That it is the first of another size is for tp_fold_end() to say. */
	if (count && hot->units && hot->units != slot->dim && !(count->flags & TPROF_FOLD_MIXED))
		count = NULL;
	hot->count = count;
	hot->until = count ? slot->since + TP_FOLD_SPAN : 0;
	fold->filled |= UINT64_C(1) << (hot - fold->hots);
}

static void give_back_limit(struct tp_thread *thread)
{
	thread->fold.frame = 0;
	if (thread->chunk)
		thread->limit = tp_chunk_limit(thread->chunk) - TP_RECORD_MAX;
}

void tp_fold_settle(struct tp_thread *thread)
{
	struct tp_fold *fold = &thread->fold;
	const struct tp_fold_hot *hot = fold->hot;
	struct tp_open_op *open = tp_scope_open(thread, fold->frame & ~(uintptr_t)1);

	open->start = fold->start;
	open->events = UINT64_MAX; /* no leaf, whatever follows */
	open->shape = hot->shape;
	open->slot = hot->slot;
	open->ending = NULL;
	give_back_limit(thread);
	tp_emit_op(thread, fold->start, hot->op);
	if (hot->work.kind)
		tp_emit_work(thread, fold->start, &hot->work);
}

/* A new record in the thread's chunk. False: no room. */
static bool open_record(struct tp_thread *thread, const struct tp_fold_hot *hot)
{
	struct tp_fold *fold = &thread->fold;
	struct tp_fold_slot *slot = hot->slot;
	uint8_t *p = thread->at, *body = p + 3, *length;

	if (tp_chunk_limit(thread->chunk) - TP_RECORD_MAX - p < (ptrdiff_t)sizeof(struct tprof_fold) + 32)
		return false;
	p[0] = TPROF_EVENT_FOLD << 2;
	p = tp_put_uvarint(body, tp_emit_time(thread, fold->start));
	p = tp_put_uvarint(p, hot->op);
	length = p++;
	if (hot->work.kind)
		p = tp_put_work(p, &hot->work);
	tp_put_length(length, p);
	while ((uintptr_t)p % 8)
		*p++ = 0;
	fold->counting = true;
	slot->count = (struct tprof_fold *)p;
	*slot->count = (struct tprof_fold){ .min = UINT32_MAX };
	slot->dim = hot->units;
	slot->scope = fold->scope;
	slot->since = fold->start;
	p += sizeof(struct tprof_fold);
	thread->at[1] =
		(uint8_t)((p - body) | 0x80); /* two bytes of length: never less than sizeof(struct tprof_fold) */
	thread->at[2] = (uint8_t)((p - body) >> 7);
	tp_emit_end(thread, p);
	return true;
}

/* trampoline.S does the same. */
static void count(struct tprof_fold *to, const struct tp_fold_hot *hot, uint32_t ticks)
{
	to->units += hot->units;
	if (hot->units != hot->slot->dim)
		to->flags = TPROF_FOLD_MIXED;
	to->ticks += ticks;
	if (ticks < to->min)
		to->min = ticks;
	if (ticks > to->max)
		to->max = ticks;
	to->histogram[tprof_fold_bucket(ticks)]++;
	to->calls++;
}

static bool has_record(const struct tp_fold *fold, const struct tp_fold_slot *slot, uint64_t now)
{
	return slot->count && slot->scope == fold->scope && now - slot->since <= TP_FOLD_SPAN;
}

/* The record that counts the call that began as `hot` and is over `now`. NULL: there is none. */
static struct tprof_fold *record_of(struct tp_thread *thread, struct tp_fold_hot *hot, uint64_t now)
{
	struct tp_fold_slot *slot = hot->slot;

	if (slot->shape != hot->shape)
		return NULL;
	if (!has_record(&thread->fold, slot, now)) {
		if (slot->count && slot->count->calls < TP_FOLD_FEW)
			slot->heat = 0;
		slot->count = NULL;
		if (!slot->heat || !open_record(thread, hot))
			return NULL;
	}
	return slot->count;
}

/* All that counted calls in this record asks for another. */
static TP_SLOW void end_record(struct tp_fold *fold, struct tp_fold_slot *slot)
{
	slot->count = NULL;
	for (uint64_t left = fold->filled; left; left &= left - 1) {
		struct tp_fold_hot *hot = &fold->hots[__builtin_ctzll(left)];

		if (hot->slot == slot) {
			hot->count = NULL;
			hot->until = 0;
		}
	}
}

bool tp_fold_end(struct tp_thread *thread, uint64_t now)
{
	struct tp_fold *fold = &thread->fold;
	struct tp_fold_hot *hot = fold->hot;
	uint64_t ticks = now > fold->start ? now - fold->start : 0;

	if (tp_unlikely(ticks >= TP_FOLD_TICKS)) {
		if (hot->slot->shape == hot->shape)
			tp_fold_cool(hot->slot, now);
		hot->key = 0; /* until it is hot again */
		tp_fold_settle(thread);
		return false;
	}
	hot->count = record_of(thread, hot, now);
	if (tp_unlikely(!hot->count)) {
		hot->key = 0;
		tp_fold_settle(thread);
		return false;
	}
	hot->until = hot->slot->since + TP_FOLD_SPAN;
	give_back_limit(thread);
	count(hot->count, hot, (uint32_t)ticks);
	if (tp_unlikely(hot->count->calls == TPROF_FOLD_CALLS))
		end_record(fold, hot->slot);
	return true;
}

/* ---- */

void tp_fold_warm_short(struct tp_fold_slot *slot, uint64_t shape, uint64_t start, uint64_t now)
{
	if (slot->shape != shape) {
		if (slot->heat) {
			slot->heat--;
			return;
		}
		slot->shape = shape;
		slot->count = NULL;
	}
	/* A pause in between is no reason to begin anew: the thread may have waited for a processor. */
	slot->heat += start - slot->since < TP_FOLD_GAP;
	slot->since = now;
}

void tp_fold_close_all(struct tp_fold *fold)
{
	fold->counting = false;
	for (uint64_t left = fold->filled; left; left &= left - 1) {
		struct tp_fold_hot *hot = &fold->hots[__builtin_ctzll(left)];

		hot->count = NULL;
		hot->until = 0;
	}
	for (uint32_t i = 0; i < TP_FOLD_SLOTS; i++)
		fold->slots[i].count = NULL;
}

void tp_fold_reset(struct tp_thread *thread)
{
	struct tp_fold *fold = &thread->fold;

	if (fold->frame)
		give_back_limit(thread);
	for (uint64_t left = fold->filled; left; left &= left - 1)
		fold->hots[__builtin_ctzll(left)].key = 0;
	fold->filled = 0;
	tp_scope_new(fold);
	fold->outer = tp_scope_frame(thread);
	for (uint32_t i = 0; i < TP_FOLD_SLOTS; i++)
		fold->slots[i] = (struct tp_fold_slot){ 0 };
}
