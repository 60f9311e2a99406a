/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fold.h"

#include "core/emit.h"

void tp_fold_begin(struct tp_thread *thread, struct tp_fold_slot *slot, uint32_t op, uint64_t start)
{
	struct tp_fold *fold = &thread->fold;

	fold->start = start;
	fold->slot = slot;
	fold->limit = thread->limit;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	fold->pending = op;
	thread->limit = NULL;
}

static void give_back_limit(struct tp_thread *thread)
{
	thread->fold.pending = 0;
	thread->limit = thread->fold.limit;
}

void tp_fold_settle(struct tp_thread *thread)
{
	uint32_t op = thread->fold.pending;

	give_back_limit(thread);
	tp_emit_op(thread, thread->fold.start, op);
	if (thread->fold.work.kind)
		tp_emit_work(thread, thread->fold.start, &thread->fold.work);
	thread->fold.scope = ++thread->fold.scopes;
}

/* A new record in the thread's chunk. False: no room. */
static bool open_record(struct tp_thread *thread, uint32_t op)
{
	struct tp_fold *fold = &thread->fold;
	struct tp_fold_slot *slot = fold->slot;
	uint8_t *p = thread->at, *body = p + 3, *length;

	if (fold->limit - p < (ptrdiff_t)sizeof(struct tprof_fold) + 32)
		return false;
	p[0] = TPROF_EVENT_FOLD << 2;
	p = tp_put_uvarint(body, tp_emit_time(thread, fold->start));
	p = tp_put_uvarint(p, op);
	length = p++;
	if (fold->work.kind)
		p = tp_put_work(p, &fold->work);
	tp_put_length(length, p);
	while ((uintptr_t)p % 8)
		*p++ = 0;
	slot->count = (struct tprof_fold *)p;
	*slot->count = (struct tprof_fold){ .min = UINT32_MAX };
	slot->dim = fold->work.dim[0];
	slot->scope = fold->scope;
	slot->since = fold->start;
	p += sizeof(struct tprof_fold);
	thread->at[1] =
		(uint8_t)((p - body) | 0x80); /* two bytes of length: never less than sizeof(struct tprof_fold) */
	thread->at[2] = (uint8_t)((p - body) >> 7);
	tp_emit_end(thread, p);
	return true;
}

static void count(struct tprof_fold *to, struct tp_fold *fold, uint32_t ticks)
{
	if (fold->work.kind && fold->work.dims == 1) {
		to->units += fold->work.dim[0];
		if (tp_unlikely(fold->work.dim[0] != fold->slot->dim))
			to->flags = TPROF_FOLD_MIXED;
	}
	to->ticks += ticks;
	if (ticks < to->min)
		to->min = ticks;
	if (ticks > to->max)
		to->max = ticks;
	to->histogram[tprof_fold_bucket(ticks)]++;
	if (tp_unlikely(++to->calls == TPROF_FOLD_CALLS))
		fold->slot->count = NULL;
}

/* A call was none that can be folded. One in a thousand does no harm; one in 64, and the op never becomes hot. */
static void cool(struct tp_fold_slot *slot, uint64_t now)
{
	slot->heat = slot->heat > TP_FOLD_COOLING ? slot->heat - TP_FOLD_COOLING : 0;
	slot->since = now - (uint64_t)slot->heat * TP_FOLD_GAP;
}

bool tp_fold_end(struct tp_thread *thread, uint64_t now)
{
	struct tp_fold *fold = &thread->fold;
	struct tp_fold_slot *slot = fold->slot;
	uint64_t ticks = now > fold->start ? now - fold->start : 0;
	uint32_t op = fold->pending;

	if (tp_unlikely(ticks >= TP_FOLD_TICKS)) {
		cool(slot, now);
		tp_fold_settle(thread);
		return false;
	}
	if (tp_unlikely(!slot->count || slot->scope != fold->scope || now - slot->since > TP_FOLD_SPAN)) {
		if (slot->count && slot->count->calls < TP_FOLD_FEW)
			slot->heat = 0;
		if (!slot->heat || !open_record(thread, op)) {
			slot->count = NULL;
			tp_fold_settle(thread);
			return false;
		}
	}
	give_back_limit(thread);
	count(slot->count, fold, (uint32_t)ticks);
	return true;
}

void tp_fold_warm(struct tp_fold_slot *slot, uint64_t key, uint64_t start, uint64_t now, bool leaf)
{
	if (!leaf || now - start >= TP_FOLD_TICKS) {
		if (slot->key == key)
			cool(slot, now);
		return;
	}
	if (slot->key != key) {
		if (slot->heat) {
			slot->heat--;
			return;
		}
		slot->key = key;
		slot->count = NULL;
	}
	if (!slot->heat++)
		slot->since = start;
	if (slot->heat == TP_FOLD_HOT && now - slot->since > (uint64_t)TP_FOLD_HOT * TP_FOLD_GAP)
		slot->heat = 0;
}

void tp_fold_close(struct tp_fold *fold)
{
	for (uint32_t i = 0; i < TP_FOLD_SLOTS; i++)
		fold->slots[i].count = NULL;
}

void tp_fold_reset(struct tp_thread *thread)
{
	if (thread->fold.pending)
		give_back_limit(thread);
	thread->fold.scope = 0;
	for (uint32_t i = 0; i < TP_FOLD_SLOTS; i++)
		thread->fold.slots[i] = (struct tp_fold_slot){ 0 };
}
