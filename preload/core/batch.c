/* SPDX-License-Identifier: Apache-2.0 */
#include "core/batch.h"

#include "core/assert.h"
#include "core/clock.h"
#include "core/output.h"
#include "core/reserve.h"
#include "core/state.h"
#include "core/sys.h"

#define MOST 16u		     /* chunks of a batch: 1 MiB */
#define OFTEN_NS UINT64_C(500000000) /* a batch used up sooner is followed by one of twice the size */
#define SELDOM_NS (8 * OFTEN_NS)     /* one that lasts longer, by one of half the size */

/*
 * The supply: the number of the next chunk, and in the lowest 8 bits how many are left. Who changes it takes one, or
 * all. No number is handed out twice, so what is read between reading the word and changing it belongs to the same
 * batch.
 */
static tpc_shared_u64 supply;

/*
 * Of that batch: the address at which chunk 0 would be mapped. 0: the batch is only numbers, each chunk is to be mapped
 * alone.
 */
static tpc_shared_address base;

static tpc_shared_u32 making; /* 1: a thread is in make(), and owns the next two: */
static uint64_t made;	      /* ticks of the last time */
static uint32_t size;	      /* size of the last batch; 0: there was none */

static uint32_t left_of(uint64_t word)
{
	return word & 0xff;
}

static struct tprof_chunk *chunk_at(uintptr_t from, uint64_t number)
{
	return (struct tprof_chunk *)(from + number * TPROF_CHUNK_SIZE);
}

static uint32_t next_size(void)
{
	uint64_t now = tpc_clock_before(), lasted = now - made;

	if (!size)
		size = 1;
	else if (lasted < tpc_clock_ticks(OFTEN_NS) && size < MOST)
		size *= 2;
	else if (lasted > tpc_clock_ticks(SELDOM_NS) && size > 1)
		size /= 2;
	made = now;
	return size;
}

/*
 * Allocates a batch and returns the number of its first chunk; *chunk is NULL if that is to be mapped alone. Meanwhile
 * the supply is empty and nobody else changes it.
 */
static uint64_t make(struct tprof_chunk **chunk)
{
	uint32_t count = next_size();
	uint64_t first = tpc_add(&tpc_header->chunks, count);
	struct tpc_obstacle obstacle;

	tpc_assert(count && count <= MOST && !left_of(tpc_load(&supply)));
	if (count == 1)
		return first;
	*chunk = tpc_output_grow(first, count, true, &obstacle);
	if (!*chunk)
		size = 1; /* not as many at once */
	tpc_store(&base, *chunk ? (uintptr_t)*chunk - first * TPROF_CHUNK_SIZE : 0);
	tpc_store_release(&supply, (first + 1) << 8 | (count - 1)); /* pairs with take() */
	return first;
}

/* False: none is left. *chunk: as in make(). */
static bool take(uint64_t *number, struct tprof_chunk **chunk)
{
	uint64_t word = tpc_load_acquire(&supply); /* pairs with make(): the base is set */

	while (left_of(word)) {
		uintptr_t from = tpc_load(&base);

		if (!tpc_swap_or_load(&supply, &word, word + (1 << 8) - 1))
			continue;
		*number = word >> 8;
		*chunk = from ? chunk_at(from, *number) : NULL;
		return true;
	}
	return false;
}

/* If a longjmp out of a signal handler interrupts make(), every later chunk is allocated alone. */
struct tprof_chunk *tpc_batch_take(bool whole, struct tpc_obstacle *obstacle)
{
	struct tprof_chunk *chunk = NULL;
	uint64_t number;

	if (whole && take(&number, &chunk)) {
		/* taken from the supply */
	} else if (whole && tpc_swap_if(&making, 0u, 1u)) {
		if (!take(&number, &chunk)) /* another thread may have made some meanwhile */
			number = make(&chunk);
		tpc_store_release(&making, 0u); /* pairs with the swap */
	} else {
		number = tpc_add(&tpc_header->chunks, 1);
	}
	return chunk ? chunk : tpc_output_grow(number, 1, whole, obstacle);
}

/* ---- giving back ---- */

/*
 * Neighbouring chunks that are no longer used but still mapped: the address of the first, and in the lowest bits their
 * count.
 */
static tpc_shared_address ended;

void tpc_batch_give(struct tprof_chunk *chunk)
{
	uintptr_t word = tpc_load_acquire(&ended), count;
	bool joins;

	tpc_assert((uintptr_t)chunk % TPC_PAGE == 0); /* the count has those bits */
	do {
		count = word % TPC_PAGE;
		tpc_assert(count <= MOST);
		joins = count && count < MOST && chunk == chunk_at(word - count, count);
	} while (!tpc_swap_or_load(&ended, &word, joins ? word + 1 : (uintptr_t)chunk + 1));
	if (!joins && count)
		tpc_sys_munmap((void *)(word - count), count * TPROF_CHUNK_SIZE);
}

/* ---- the end ---- */

/* Takes all that is left: the first number, and the count. *chunks NULL: they are only numbers. */
static uint32_t take_all(uint64_t *number, struct tprof_chunk **chunks)
{
	uint64_t word = tpc_load_acquire(&supply);
	uintptr_t from;

	do {
		from = tpc_load(&base);
	} while (!tpc_swap_or_load(&supply, &word, word & ~UINT64_C(0xff)));
	*number = word >> 8;
	*chunks = from ? chunk_at(from, *number) : NULL;
	return left_of(word);
}

/*
 * Leaves a hole in the file instead of truncating it: another thread may be growing it, and a truncated chunk would be
 * a SIGBUS. Numbers without chunks are reused if they were the last ones.
 */
void tpc_batch_end(void)
{
	struct tprof_chunk *chunks;
	uint64_t number;
	uint32_t left = tpc_load(&tpc_sealed) ? 0 : take_all(&number, &chunks);
	int fd;

	if (!left)
		return;
	if (!chunks) {
		tpc_swap_if(&tpc_header->chunks, number + left, number);
		return;
	}
	tpc_sys_munmap(chunks, (size_t)left * TPROF_CHUNK_SIZE);
	fd = tpc_output_reach();
	if (fd < 0)
		return;
	tpc_reserve_return(fd, TPROF_HEADER_SIZE + number * TPROF_CHUNK_SIZE, (uint64_t)left * TPROF_CHUNK_SIZE);
	tpc_sys_close(fd);
}

void tpc_batch_forget(void)
{
	struct tprof_chunk *chunks;
	uint64_t number;
	uint32_t left = take_all(&number, &chunks);

	if (left && chunks)
		tpc_sys_munmap(chunks, (size_t)left * TPROF_CHUNK_SIZE);
	tpc_unshared(making) = 0;
	size = 0;
}
