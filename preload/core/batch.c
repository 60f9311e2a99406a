/* SPDX-License-Identifier: Apache-2.0 */
#include "core/batch.h"

#include "core/clock.h"
#include "core/output.h"
#include "core/room.h"
#include "core/state.h"
#include "core/sys.h"

#define MOST 16u		     /* chunks of a batch: 1 MiB */
#define OFTEN_NS UINT64_C(500000000) /* one that lasts no longer is followed by one of twice as many */
#define SELDOM_NS (8 * OFTEN_NS)     /* and one that lasts longer by one of half as many */
#define BATCHES 64u		     /* mapped at once; beyond it chunks are made alone */

/* The word of a batch that is being given up or made: none of its chunks is in use. */
#define HELD 1u

static struct batch {
	uint32_t used;	/* chunks that were not given back, taken or not, and HELD; 0: this is no batch */
	uint32_t count; /* chunks */
	uintptr_t low;	/* where the first is mapped; 0: none is */
	uint64_t first; /* its number */
} batches[BATCHES];

/*
 * What can be taken: the number of the next chunk, then 8 bits each: where in batches[] they are (BATCHES: in none, they are
 * numbers only, each to be made alone), and how many are left. Who changes it has one, or all.
 */
static uint64_t supply;

static uint32_t maker; /* tid of the thread that makes a batch; 0: none does */
static uint64_t made;  /* ticks at which the last one was; the maker's, as `size` */
static uint32_t size;  /* and its chunks; 0: there was none */

static uint64_t supply_of(uint64_t number, uint32_t at, uint32_t left)
{
	return number << 16 | at << 8 | left;
}

static uint32_t left_of(uint64_t word)
{
	return word & 0xff;
}

static struct batch *batch_of(uint64_t word)
{
	uint32_t at = word >> 8 & 0xff;

	return at < BATCHES ? &batches[at] : NULL;
}

static struct tprof_chunk *chunk_of(const struct batch *batch, uint64_t number)
{
	return (struct tprof_chunk *)(batch->low + (number - batch->first) * TPROF_CHUNK_SIZE);
}

/* ---- giving back ---- */

/* The address goes before the mapping does: what comes to lie there is not taken for one of these. */
static void release(struct batch *batch, uint32_t chunks)
{
	uintptr_t low = tp_load(&batch->low);

	if (__atomic_sub_fetch(&batch->used, chunks, __ATOMIC_ACQ_REL) != HELD)
		return;
	tp_store(&batch->low, (uintptr_t)0);
	tp_sys_munmap((void *)low, (size_t)batch->count * TPROF_CHUNK_SIZE);
	tp_store_release(&batch->used, 0u); /* pairs with claim()'s swap */
}

bool tp_batch_give(struct tprof_chunk *chunk)
{
	for (struct batch *batch = batches; batch < batches + BATCHES; batch++) {
		uintptr_t low = tp_load_acquire(&batch->low); /* pairs with make(): the rest is set */

		if (!low || (uintptr_t)chunk - low >= (uintptr_t)batch->count * TPROF_CHUNK_SIZE)
			continue;
		release(batch, 1);
		return true;
	}
	return false;
}

/* ---- making ---- */

static struct batch *claim(void)
{
	for (struct batch *batch = batches; batch < batches + BATCHES; batch++) {
		if (!tp_load(&batch->used) && tp_swap_if(&batch->used, 0u, HELD))
			return batch;
	}
	return NULL;
}

/* By the maker: how many to make now. */
static uint32_t next_size(void)
{
	uint64_t now = tp_clock_before(), lasted = now - made;

	if (!size)
		size = 1;
	else if (lasted < tp_clock_ticks(OFTEN_NS) && size < MOST)
		size *= 2;
	else if (lasted > tp_clock_ticks(SELDOM_NS) && size > 1)
		size /= 2;
	made = now;
	return size;
}

/* NULL: they can't be had, not as many at once. */
static struct batch *map(uint64_t first, uint32_t count)
{
	struct batch *batch = claim();
	struct tp_obstacle obstacle;
	void *low;

	if (!batch)
		return NULL;
	low = tp_output_grow(first, count, true, &obstacle);
	if (!low) {
		tp_store_release(&batch->used, 0u);
		return NULL;
	}
	batch->first = first;
	batch->count = count;
	tp_store(&batch->used, count + HELD);
	tp_store_release(&batch->low, (uintptr_t)low);
	return batch;
}

/*
 * The first of new ones, whose number is *number; *batch is NULL if it is to be made alone. Nobody takes from the supply
 * meanwhile: it is empty, and there is one maker.
 */
static void make(uint64_t *number, struct batch **batch)
{
	uint32_t count = next_size();
	uint64_t empty = tp_load(&supply);

	*number = tp_add(&tp_header->chunks, count);
	*batch = NULL;
	if (count == 1)
		return;
	*batch = map(*number, count);
	if (!*batch)
		size = 1;
	/* Release: pairs with take(). It fails where a longjmp left us and another call came by: then these are nobody's. */
	if (!left_of(empty) &&
	    tp_swap_if(&supply, empty,
		       supply_of(*number + 1, *batch ? (uint32_t)(*batch - batches) : BATCHES, count - 1)))
		return;
	if (*batch)
		release(*batch, count - 1);
}

/* False: there is none left. */
static bool take(uint64_t *number, struct batch **batch)
{
	uint64_t word = tp_load_acquire(&supply); /* pairs with make(): the batch is set */

	while (left_of(word)) {
		if (__atomic_compare_exchange_n(&supply, &word, word + (1 << 16) - 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			*number = word >> 16;
			*batch = batch_of(word);
			return true;
		}
	}
	return false;
}

/* A thread that was at it, and is again, was taken out of it by a longjmp. False: another one is at it. */
static bool become_maker(void)
{
	uint32_t tid = tp_sys_gettid();

	return tp_load(&maker) == tid || tp_swap_if(&maker, 0u, tid);
}

struct tprof_chunk *tp_batch_take(bool whole, struct tp_obstacle *obstacle)
{
	struct batch *batch = NULL;
	uint64_t number;

	if (whole && take(&number, &batch)) {
		/* it is ours */
	} else if (whole && become_maker()) {
		make(&number, &batch);
		tp_store_release(&maker, 0u);
	} else {
		number = tp_add(&tp_header->chunks, 1);
	}
	return batch ? chunk_of(batch, number) : tp_output_grow(number, 1, whole, obstacle);
}

/* ---- the end ---- */

/* All that is left; nobody takes it after that. */
static uint64_t empty_supply(void)
{
	return __atomic_exchange_n(&supply, 0, __ATOMIC_ACQ_REL);
}

/*
 * A hole in the file, which is not made shorter: another thread may be at making it longer, and a chunk that is cut off would
 * be a SIGBUS. Numbers without chunks are given out again, if they were the last.
 */
void tp_batch_end(void)
{
	uint64_t word = tp_sealed ? 0 : empty_supply();
	struct batch *batch = batch_of(word);
	uint32_t left = left_of(word);
	int fd;

	if (!left)
		return;
	if (!batch) {
		tp_swap_if(&tp_header->chunks, (word >> 16) + left, word >> 16);
		return;
	}
	fd = tp_output_reach();
	if (fd >= 0) {
		tp_room_return(fd, TPROF_HEADER_SIZE + (word >> 16) * TPROF_CHUNK_SIZE,
			       (uint64_t)left * TPROF_CHUNK_SIZE);
		tp_sys_close(fd);
	}
	release(batch, left);
}

/* Zeros in place of the parent's file, until the last is given: nothing of the child's comes to lie there before. */
void tp_batch_forget(void)
{
	uint64_t word = empty_supply();

	maker = 0;
	size = 0;
	for (struct batch *batch = batches; batch < batches + BATCHES; batch++) {
		if (batch->low)
			tp_sys_mmap_zeros((void *)batch->low, (size_t)batch->count * TPROF_CHUNK_SIZE);
		else
			batch->used = 0;
	}
	if (left_of(word) && batch_of(word))
		release(batch_of(word), left_of(word));
}
