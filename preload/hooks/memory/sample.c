/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/sample.h"

#include "core/assert.h"
#include "core/budget.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/space.h"
#include "core/state.h"

/*
 * Addresses of the live recorded blocks, in buckets of one cache line. An address is in its bucket or nowhere, so a
 * look-up takes one line and a removal leaves nothing behind. 2^17 places are enough for 64 GiB of live blocks at the
 * usual mean of 512 KiB; a full bucket loses a sample, which is counted. Where all blocks are recorded at times there are
 * 2^20, in 8 MiB.
 */
#define BUCKET_BITS (tpc_budget_is_on() ? 17u : 14u)
#define BUCKETS ((size_t)1 << BUCKET_BITS)
#define PLACES 8u

struct bucket {
	tpc_shared_u64 addresses[PLACES]; /* 0: free */
} __attribute__((aligned(64)));

static TPC_SHARED(struct bucket *) buckets; /* make_buckets() pairs with the loads that acquire */
tpc_shared_u8 tpc_sample_known[1u << TPC_SAMPLE_KNOWN_BITS];

static struct bucket *bucket_of(struct bucket *all, uint64_t address)
{
	return &all[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS)];
}

static TPC_SLOW struct bucket *make_buckets(void)
{
	struct bucket *made = tpc_space_take(BUCKETS * sizeof(struct bucket));

	if (made && !tpc_swap_if(&buckets, NULL, made))
		tpc_space_give_back(made, BUCKETS * sizeof(struct bucket)); /* another thread was first */
	return tpc_load_acquire(&buckets);
}

/* False: too many. */
static bool make_known(uint64_t address)
{
	tpc_shared_u8 *count = tpc_sample_known_at(address);

	for (;;) {
		uint8_t known = tpc_load(count);

		if (known == UINT8_MAX)
			return false;
		if (tpc_swap_if(count, known, (uint8_t)(known + 1)))
			return true;
	}
}

static void forget(uint64_t address)
{
	tpc_assert(tpc_load(tpc_sample_known_at(address)) > 0);
	tpc_sub(tpc_sample_known_at(address), 1);
}

bool tpc_sample_insert(uint64_t address)
{
	struct bucket *all = tpc_load_acquire(&buckets);
	struct bucket *bucket;

	if (!all && !(all = make_buckets()))
		return false;
	bucket = bucket_of(all, address);
	if (make_known(address)) {
		for (size_t i = 0; i < PLACES; i++) {
			/* The program has not received the block yet: no thread looks for it before this hook returns. */
			if (!tpc_load(&bucket->addresses[i]) && tpc_swap_if(&bucket->addresses[i], 0, address))
				return true;
		}
		forget(address);
	}
	tpc_lost(TPROF_LOST_NO_MEMORY, 1);
	tpc_budget_full();
	return false;
}

bool tpc_sample_remove(uint64_t address)
{
	struct bucket *all = tpc_load_acquire(&buckets);
	struct bucket *bucket;

	if (!all || !tpc_load(tpc_sample_known_at(address)))
		return false;
	bucket = bucket_of(all, address);
	for (size_t i = 0; i < PLACES; i++) {
		if (tpc_load(&bucket->addresses[i]) != address)
			continue;
		if (!tpc_swap_if(&bucket->addresses[i], address, 0))
			return false;
		forget(address);
		return true;
	}
	return false;
}

/* ---- the exponential distribution, in integers: hooks touch no floating-point register ---- */

/* xorshift64* (Vigna 2016). */
static uint64_t next_random(struct tpc_thread *thread)
{
	uint64_t x = thread->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	thread->random = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/*
 * -log2(u / 2^64) in 1 / 2^32ths, for u > 0: the position of the highest bit, then a bit of the fraction for each
 * squaring of the mantissa (Knuth, TAOCP 1.2.2, exercise 25's method).
 */
static uint64_t minus_log2(uint64_t u)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(u);
	uint64_t mantissa = u << zeros; /* [1, 2) as 1.63 bits */
	uint64_t log = (uint64_t)(63 - zeros) << 32;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa;

		if (square >> 127) { /* at least 2: a bit of the logarithm is 1 */
			mantissa = (uint64_t)(square >> 64);
			log |= bit;
		} else {
			mantissa = (uint64_t)(square >> 63);
		}
	}
	return (UINT64_C(64) << 32) - log;
}

/* Draws the distance in bytes from the last byte seen to the thread's next hit. */
static void draw(struct tpc_thread *thread)
{
	const uint64_t ln2 = UINT64_C(2977044472); /* ln 2 in 1 / 2^32ths */
	unsigned __int128 distance;
	uint64_t u, mean = tpc_config.sample_bytes;

	if (!mean) {
		thread->drawn_log2 = (uint8_t)tpc_load(&tpc_config.mean_log2);
		mean = UINT64_C(1) << thread->drawn_log2;
	}
	if (!thread->random)
		thread->random =
			(tpc_clock_before() ^ (uint64_t)tpc_load(&thread->tid) << 40) * UINT64_C(0x9e3779b97f4a7c15) |
			1;
	do {
		u = next_random(thread);
	} while (!u);
	distance = (unsigned __int128)minus_log2(u) * ln2 >> 32; /* -ln(u / 2^64), in 1 / 2^32ths */
	distance = distance * mean >> 32;
	thread->until_sample = (uint64_t)distance + 1; /* geometric: P(distance > s) is exp(-s / mean) */
}

bool tpc_sample_hits(struct tpc_thread *thread, uint64_t size)
{
	if (tpc_config_takes_all()) {
		thread->until_sample = 0; /* not drawn: the mean will be another one */
		thread->hit_log2 = 0;
		return true;
	}
	if (!thread->until_sample) {
		draw(thread);
		tpc_thread_set_bounds(thread, thread->bounds); /* the next ones may pass */
		return tpc_sample_wanted(thread, size);
	}
	if (tpc_budget_is_on()) /* about 1 / p */
		tpc_budget_stands_for(size < UINT64_C(1) << thread->drawn_log2
					      ? (UINT64_C(1) << thread->drawn_log2) / (size + !size)
					      : 1);
	thread->hit_log2 = thread->drawn_log2;
	draw(thread); /* the process is memoryless: the rest of the block does not matter */
	return true;
}
