/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fold.h"

#include "core/assert.h"
#include "core/budget.h"
#include "core/emit.h"
#include "core/clock.h"
#include "core/reclaim.h"
#include "core/scope.h"
#include "core/state.h"

uint32_t tpc_fold_short TPC_LOOKED_AT;
void (*tpc_fold_left)(struct tpc_thread *thread, uint64_t ticks);

_Static_assert(TPC_FOLD_FULL <= TPROF_FOLD_CALLS, "a histogram's bucket has 16 bits");

/* ---- a call that is pending ---- */

/* Sets the record that the calls are counted in; NULL: none. */
static void take_record(struct tpc_fold_hot *hot, struct tprof_fold *count)
{
	hot->count = count;
	hot->until = count ? hot->slot->began + TPC_FOLD_SPAN : 0;
	hot->share = TPC_FOLD_SHARE_NONE;
	if (count && hot->slot->share)
		hot->share = hot->window ? TPC_FOLD_SHARE_WINDOW : TPC_FOLD_SHARE_PLAIN;
}

void tpc_fold_fill(struct tpc_fold *fold, struct tpc_fold_hot *hot, struct tpc_fold_slot *slot, uint64_t shape,
		   uint32_t op)
{
	struct tprof_fold *count = slot->scope == fold->scope ? slot->count : NULL;
	const struct tpc_work *work = &fold->work;

	hot->op = op;
	hot->slot = slot;
	hot->shape = shape;
	hot->units = work->kind && work->dims == 1 ? work->dim[0] : 0;
	hot->work.kind = work->kind;
	if (work->kind) {
		hot->work.dtype = work->dtype;
		hot->work.flags = work->flags;
		hot->work.dims = work->dims;
		hot->work.second = work->second;
		hot->work.result = work->result;
		for (uint32_t i = 0; i < work->dims; i++)
			hot->work.dim[i] = work->dim[i];
	}
	/* tpc_fold_end() decides whether it is the first call of another size. */
	if (count && hot->units != slot->dim && !(count->flags & TPROF_FOLD_MIXED))
		count = NULL;
	take_record(hot, count);
	fold->filled |= UINT64_C(1) << (hot - fold->hots);
}

static void give_back_limit(struct tpc_thread *thread)
{
	thread->fold.frame = 0;
	thread->fold.start = 0;
	if (thread->chunk)
		thread->limit = tpc_chunk_limit(thread->chunk) - TPC_RECORD_MAX;
}

void tpc_fold_throw(struct tpc_thread *thread, uint64_t now)
{
	thread->fold.thrown = now;
	__atomic_signal_fence(
		__ATOMIC_RELEASE); /* pairs with tpc_fold_hold_throw() in a handler: it knows why there is no room */
	thread->limit = NULL;
}

uint64_t tpc_fold_hold_throw(struct tpc_thread *thread)
{
	uint64_t thrown = thread->fold.thrown;

	if (thrown)
		tpc_reclaim_wait(thread);
	if (thrown && !thread->fold.frame)
		give_back_limit(thread);
	thread->fold.thrown = 0;
	return thrown;
}

/* Writes the begin of the pending call. */
static void begin_pending(struct tpc_thread *thread)
{
	struct tpc_fold *fold = &thread->fold;
	const struct tpc_fold_hot *hot = fold->hot;
	struct tpc_open_op *open = tpc_scope_next(thread, fold->frame & ~(uintptr_t)1);
	uint64_t start = fold->start ? fold->start : tpc_clock_before();

	tpc_assert(hot >= fold->hots && hot < fold->hots + TPC_FOLD_HOTS);
	if (hot->slot->shape == hot->shape)
		hot->slot->surprises++;
	open->start = start;
	open->events = UINT64_MAX; /* not a leaf, whatever follows */
	open->shape = hot->shape;
	open->slot = hot->slot;
	open->ending = tpc_fold_ending(hot);
	give_back_limit(thread);
	tpc_scope_begin(thread, open, start, hot->op);
	if (hot->work.kind)
		tpc_emit_work(thread, start, &hot->work);
}

void tpc_fold_settle(struct tpc_thread *thread)
{
	uint64_t thrown = tpc_fold_hold_throw(thread);

	if (thread->fold.frame)
		begin_pending(thread);
	if (thrown)
		tpc_fold_left(thread, thrown);
}

/* Opens a new record in the thread's chunk. False: no room. */
static bool open_record(struct tpc_thread *thread, const struct tpc_fold_hot *hot, uint64_t now, bool share)
{
	struct tpc_fold *fold = &thread->fold;
	struct tpc_fold_slot *slot = hot->slot;
	uint8_t *p = thread->at, *body = p + 3, *length;

	if (!thread->chunk ||
	    tpc_chunk_limit(thread->chunk) - TPC_RECORD_MAX - p < (ptrdiff_t)sizeof(struct tprof_fold) + 32)
		return false;
	p[0] = TPROF_EVENT_FOLD << 2;
	p = tpc_put_uvarint(body, tpc_emit_time(thread, now));
	p = tpc_put_uvarint(p, hot->op);
	length = p++;
	if (hot->work.kind)
		p = tpc_put_work(p, &hot->work);
	tpc_put_length(length, p);
	while ((uintptr_t)p % 8)
		*p++ = 0;
	if (share) {
		*(uint64_t *)p = 0; /* TPROF_FOLD_LASTED */
		p += sizeof(uint64_t);
	}
	fold->counting = true;
	slot->count = (struct tprof_fold *)p;
	*slot->count = (struct tprof_fold){ .min = UINT32_MAX };
	slot->share = share;
	if (share)
		slot->count->flags = TPROF_FOLD_SHARE | TPROF_FOLD_LASTED;
	slot->dim = hot->units;
	slot->scope = fold->scope;
	slot->since = slot->began = now;
	slot->timed = slot->surprises = 0;
	p += sizeof(struct tprof_fold);
	thread->at[1] =
		(uint8_t)((p - body) | 0x80); /* two bytes of length: never less than sizeof(struct tprof_fold) */
	thread->at[2] = (uint8_t)((p - body) >> 7);
	tpc_emit_end(thread, p);
	return true;
}

/* Records lie in the thread's current chunk, which is mapped. */
static bool is_in_chunk(const struct tpc_thread *thread, const struct tprof_fold *record)
{
	return (const uint8_t *)record > tpc_chunk_bytes(thread->chunk) &&
	       (const uint8_t *)(record + 1) <= tpc_chunk_limit(thread->chunk);
}

/* trampoline.S does the same. */
static void count(struct tprof_fold *to, const struct tpc_fold_hot *hot)
{
	to->units += hot->units;
	if (hot->units != hot->slot->dim)
		to->flags |= TPROF_FOLD_MIXED;
	to->calls++;
}

/* The same. */
static void count_ticks(struct tprof_fold *to, struct tpc_fold_slot *slot, uint64_t passed)
{
	uint32_t ticks = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
	uint32_t bucket = tprof_fold_bucket(ticks);

	slot->timed++;
	to->ticks += passed;
	if (ticks < to->min)
		to->min = ticks;
	if (ticks > to->max)
		to->max = ticks;
	to->histogram[bucket < TPROF_FOLD_BUCKETS ? bucket : TPROF_FOLD_BUCKETS - 1]++;
}

/* Were there very many calls in the time that the record covers? A pause after it does not count. */
static bool often(const struct tpc_fold_slot *slot, uint64_t now)
{
	uint64_t passed = now - slot->began < TPC_FOLD_SPAN ? now - slot->began : TPC_FOLD_SPAN;

	return slot->count->calls >= TPC_FOLD_FULL && passed <= (uint64_t)slot->count->calls * TPC_FOLD_OFTEN;
}

/* The slot's record ends: were its calls very short and very many? */
static void judge(struct tpc_fold_slot *slot, uint64_t now)
{
	const struct tprof_fold *last = slot->count;
	uint32_t timed = slot->share ? slot->timed : last->calls;

	tpc_assert(slot->timed <= last->calls);
	if (tpc_budget_is_on())
		tpc_budget_folded(last->calls);
	slot->next_share = often(slot, now) && slot->surprises <= last->calls / TPC_FOLD_SURPRISES &&
			   last->ticks < (uint64_t)timed * tpc_fold_short;
	slot->count = NULL;
}

/*
 * Draws how many calls pass until the next timed one, as if each were drawn independently with probability 1 /
 * TPROF_FOLD_DISTANCE.
 */
static int32_t draw(struct tpc_fold *fold)
{
	_Static_assert(TPROF_FOLD_DISTANCE == 1u << 8, "eight bits are all ones");
	int32_t calls = 0;

	if (!fold->random)
		fold->random = (uintptr_t)fold ^ tpc_clock_before() << 20 ^ TPC_FOLD_MIX;
	for (;;) {
		uint64_t drawn = UINT64_MAX;

		for (int i = 0; i < 8;
		     i++) { /* Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators" */
			uint64_t z = fold->random += TPC_FOLD_MIX;

			z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
			z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
			drawn &= z ^ z >> 31;
		}
		if (drawn)
			return calls + __builtin_ctzll(drawn);
		calls = calls < 1 << 20 ? calls + 64 : calls;
	}
}

static bool has_record(const struct tpc_fold *fold, const struct tpc_fold_slot *slot, uint64_t now)
{
	return slot->count && slot->scope == fold->scope && now - slot->began <= TPC_FOLD_SPAN;
}

/* Begins a record of its own for these calls. False: no room. */
static bool begin_record(struct tpc_thread *thread, const struct tpc_fold_hot *hot, uint64_t now)
{
	bool share = hot->slot->next_share && tpc_clock_kind == TPROF_CLOCK_TSC;

	if (share) {
		tpc_set_bits(&tpc_header->features_required, TPROF_FEATURE_TIMED_SHARE);
		thread->fold.untimed = draw(&thread->fold);
	}
	return open_record(thread, hot, now, share);
}

/* The record for the call that began as `hot` at `start`, and ended `now`. NULL: there is none. */
static struct tprof_fold *record_of(struct tpc_thread *thread, struct tpc_fold_hot *hot, uint64_t start, uint64_t now)
{
	struct tpc_fold_slot *slot = hot->slot;

	if (slot->shape != hot->shape)
		return NULL;
	if (!has_record(&thread->fold, slot, now)) {
		if (slot->count && slot->count->calls < TPC_FOLD_FEW)
			slot->heat = 0;
		if (slot->count)
			judge(slot, now);
		if (!slot->heat || !begin_record(thread, hot, start))
			return NULL;
	}
	return slot->count;
}

/* Everything that counted calls in this record must find another one. */
static TPC_SLOW void end_record(struct tpc_fold *fold, struct tpc_fold_slot *slot)
{
	judge(slot, tpc_clock_before());
	for (uint64_t left = fold->filled; left; left &= left - 1) {
		struct tpc_fold_hot *hot = &fold->hots[__builtin_ctzll(left)];

		if (hot->slot == slot)
			take_record(hot, NULL);
	}
}

/* The call gets events of its own. */
static bool not_counted(struct tpc_thread *thread)
{
	thread->fold.hot->key = 0; /* until it is hot again */
	tpc_fold_settle(thread);
	return false;
}

static bool counted(struct tpc_thread *thread)
{
	struct tpc_fold_hot *hot = thread->fold.hot;

	give_back_limit(thread);
	tpc_assert(is_in_chunk(thread, hot->count));
	count(hot->count, hot);
	if (tpc_unlikely(hot->count->calls >= (hot->share ? TPROF_FOLD_CALLS_SHARE : TPC_FOLD_FULL)))
		end_record(&thread->fold, hot->slot);
	return true;
}

/* Notes the time from the record's begin to the end of the next counted call; has_record() ensures that it fits. */
static void note_lasted(struct tprof_fold *to, uint64_t ticks)
{
	_Static_assert(TPC_FOLD_SPAN <= UINT32_MAX, "the lower half has 32 bits");

	tpc_store((uint64_t *)to - 1, (uint64_t)(to->calls + 1) << 32 | ticks);
}

/* A call of an op of which a share is timed. If it was drawn it is counted, however long it was. */
static bool end_of_share(struct tpc_thread *thread, uint64_t ticks, uint64_t end)
{
	struct tpc_fold *fold = &thread->fold;
	struct tpc_fold_hot *hot = fold->hot;

	if (ticks >= TPC_FOLD_TICKS)
		hot->slot->surprises += TPC_FOLD_LONG;
	count_ticks(hot->count, hot->slot, ticks);
	note_lasted(hot->count, end - hot->slot->began);
	fold->untimed = draw(fold);
	return counted(thread);
}

static bool is_poll(const struct tpc_fold_hot *hot)
{
	return hot->typed & TPC_FOLD_POLL;
}

bool tpc_fold_end(struct tpc_thread *thread, uint64_t now)
{
	struct tpc_fold *fold = &thread->fold;
	struct tpc_fold_hot *hot = fold->hot;
	uint64_t end = fold->stop ? fold->stop : now, ticks = end > fold->start ? end - fold->start : 0;

	fold->stop = 0;
	if (!fold->start) /* if the record is gone, it was closed within the call */
		return hot->share ? counted(thread) : not_counted(thread);
	if (hot->share && hot->count == hot->slot->count && has_record(fold, hot->slot, now))
		return end_of_share(thread, ticks, end);
	if (tpc_unlikely(ticks >= TPC_FOLD_TICKS) && (!is_poll(hot) || ticks >= TPC_FOLD_POLL_TICKS)) {
		if (hot->slot->shape == hot->shape && !is_poll(hot))
			tpc_fold_cool(fold, hot->slot, now);
		return not_counted(thread);
	}
	take_record(hot, record_of(thread, hot, fold->start, now));
	if (tpc_unlikely(!hot->count))
		return not_counted(thread);
	if (!hot->share) /* else it was not drawn */
		count_ticks(hot->count, hot->slot, ticks);
	return counted(thread);
}

/* ---- */

void tpc_fold_warm_short(struct tpc_fold *fold, struct tpc_fold_slot *slot, uint64_t shape, uint64_t start,
			 uint64_t now)
{
	if (slot->shape != shape) {
		if (slot->heat) {
			slot->heat--;
			return;
		}
		slot->shape = shape;
		slot->count = NULL;
		slot->next_share = false;
	}
	/* A pause does not reset the heat: the thread may have waited for a processor. */
	tpc_fold_heat(fold, slot, slot->heat + (start - slot->since < TPC_FOLD_GAP));
	slot->since = now;
}

/* Entries whose bit is not set are never looked at, so they must be empty, or cold. */
static bool is_sound(const struct tpc_fold *fold)
{
	for (uint32_t i = 0; i < TPC_FOLD_HOTS; i++) {
		const struct tpc_fold_hot *hot = &fold->hots[i];

		if (!(fold->filled >> i & 1) ? hot->key != 0
					     : !hot->count != !hot->until || (hot->share && !hot->count))
			return false;
	}
	for (uint32_t i = 0; i < TPC_FOLD_SLOTS; i++) {
		uint32_t heat = fold->slots[i].heat;

		if ((heat && !(fold->warm >> i & 1)) || (heat >= TPC_FOLD_HOT && !(fold->heats >> i & 1)))
			return false;
	}
	return true;
}

void tpc_fold_give_up(struct tpc_fold *fold)
{
	uint64_t now = tpc_clock_before();

	tpc_assert_whole(is_sound(fold));
	fold->counting = false;
	for (uint64_t left = fold->filled; left; left &= left - 1) {
		struct tpc_fold_hot *hot = &fold->hots[__builtin_ctzll(left)];

		take_record(hot, NULL);
	}
	for (uint32_t i = 0; i < TPC_FOLD_SLOTS; i++)
		if (fold->slots[i].count)
			judge(&fold->slots[i], now);
}

void tpc_fold_close_all(struct tpc_fold *fold)
{
	tpc_reclaim_wait((struct tpc_thread *)((char *)fold - offsetof(struct tpc_thread, fold)));
	tpc_fold_give_up(fold);
}

void tpc_fold_reset(struct tpc_thread *thread)
{
	struct tpc_fold *fold = &thread->fold;

	if (tpc_fold_unsettled(fold))
		give_back_limit(thread);
	fold->thrown = 0;
	fold->ending = 0;
	for (uint64_t left = fold->filled; left; left &= left - 1)
		fold->hots[__builtin_ctzll(left)].key = 0;
	fold->filled = 0;
	fold->warm = fold->heats = 0;
	tpc_scope_new(fold);
	fold->outer = tpc_scope_frame(thread);
	for (uint32_t i = 0; i < TPC_FOLD_SLOTS; i++)
		fold->slots[i] = (struct tpc_fold_slot){ 0 };
}
