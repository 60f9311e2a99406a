/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruled ROUNDS: an allocator and pools of its own, static functions that rules describe (ruled.rules). Prints for each of the
 * allocator's functions how many blocks began and ended in it, and what of them and of the pools is left.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef VARIED /* the compiler makes variants with other arguments */
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif
#define ARENA (256u << 20)

static struct {
	const char *name;
	long begun, ended;
} counts[16];
static long live_blocks, live_bytes, pool_blocks, pool_bytes;

static void count(const char *name, long begun, long ended)
{
	size_t i = 0;

	while (counts[i].name && strcmp(counts[i].name, name) != 0)
		i++;
	counts[i].name = name;
	counts[i].begun += begun;
	counts[i].ended += ended;
}

/* ---- the allocator: a size in front of each block, none is used twice ---- */

static _Alignas(64) unsigned char arena[ARENA];
static size_t used;

static void *take(size_t size)
{
	size_t *at = (size_t *)(void *)(arena + used);

	if (size > ARENA - used - 64)
		return NULL;
	used += (size + 16 + 15) & ~(size_t)15;
	at[0] = size;
	live_blocks++;
	live_bytes += (long)size;
	return at + 2;
}

static void give(void *block)
{
	live_blocks--;
	live_bytes -= (long)((size_t *)block)[-2];
}

static APART void *own_alloc(size_t size)
{
	count("own_alloc", 1, 0);
	return take(size);
}

static APART void *own_array(size_t each, size_t n)
{
	count("own_array", 1, 0);
	return take(n * each);
}

static APART void *own_fixed(void)
{
	count("own_fixed", 1, 0);
	return take(72);
}

static APART int own_out(size_t alignment, size_t size, void **out)
{
	if (alignment & (alignment - 1))
		return EINVAL;
	count("own_out", 1, 0);
	*out = take(size);
	return 0;
}

static APART void *own_tenth(long a, long b, long c, long d, size_t size, long f, long g, long h, long i, long j)
{
	long *block = take(size);

	count("own_tenth", 1, 0);
	block[0] = a + 2 * b + 3 * c + 4 * d + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
	return block;
}

/* The vector register passes, too. */
static APART int own_scaled(double by, size_t size, void **out)
{
	double *block = take(size);

	count("own_scaled", 1, 0);
	block[0] = by * (double)size;
	*out = block;
	return 0;
}

static APART void *own_resize(void *old, size_t size)
{
	void *block = size < ARENA ? take(size) : NULL;
	size_t had = old ? ((size_t *)old)[-2] : 0;

	if (!block) {
		errno = ENOMEM;
		return NULL;
	}
	count("own_resize", 1, old != NULL);
	memcpy(block, old ? old : block, had < size ? had : size);
	if (old)
		give(old);
	return block;
}

static APART void own_release(int how, void *block)
{
	errno = how;
	if (!block)
		return;
	count("own_release", 0, 1);
	give(block);
}

/* ---- pools, of chunks that malloc gives ---- */

struct pool {
	struct chunk {
		struct chunk *next;
		size_t used;
		unsigned char bytes[4000];
	} * chunks;
	long blocks, taken;
};

static APART struct pool *pool_make(void)
{
	return calloc(1, sizeof(struct pool));
}

static APART void *pool_take(struct pool *pool, size_t size)
{
	size_t room = (size + 15) & ~(size_t)15;

	if (!pool->chunks || pool->chunks->used + room > sizeof(pool->chunks->bytes)) {
		struct chunk *chunk = calloc(1, sizeof(*chunk));

		chunk->next = pool->chunks;
		pool->chunks = chunk;
	}
	pool->chunks->used += room;
	pool->blocks++;
	pool->taken += (long)size;
	pool_blocks++;
	pool_bytes += (long)size;
	return pool->chunks->bytes + pool->chunks->used - room;
}

/* It calls another one, whose block it returns. */
static APART void *pool_take_zeroed(struct pool *pool, size_t size)
{
	return memset(pool_take(pool, size), 0, size);
}

static APART void pool_give(struct pool *pool, void *block, size_t size)
{
	(void)block;
	pool->blocks--;
	pool->taken -= (long)size;
	pool_blocks--;
	pool_bytes -= (long)size;
}

static APART void pool_clear(struct pool *pool)
{
	while (pool->chunks) {
		struct chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
	pool_blocks -= pool->blocks;
	pool_bytes -= pool->taken;
	pool->blocks = pool->taken = 0;
}

/* ---- the program ---- */

static void check(int good, const char *what)
{
	if (!good) {
		printf("wrong: %s\n", what);
		exit(1);
	}
}

static APART void *leaks(int i)
{
	return own_alloc(500 + (size_t)i % 3);
}

static APART void *leaks_of_pool(struct pool *pool)
{
	return pool_take(pool, 40);
}

static APART void round_of_allocator(int i)
{
	void *block = own_array(10, 20), *out = NULL;
	long *tenth;

	own_release(3, block);
	check(errno == 3, "errno");
	own_release(0, own_fixed());
	check(own_out(3, 10, &out) == EINVAL && !out && own_out(64, 111, &out) == 0 && out, "the block by a pointer");
	out = own_resize(out, 222);
	check(!own_resize(out, SIZE_MAX) && errno == ENOMEM, "a resize that fails");
	own_release(0, own_resize(out, 5));
	own_release(0, own_resize(NULL, 33));
	own_release(0, NULL);
	tenth = own_tenth(1, 2, 3, i, 88, 6, 7, 8, 9, 10);
	check(tenth[0] == 1 + 4 + 9 + 4L * i + 36 + 49 + 64 + 81 + 100, "ten arguments");
	own_release(0, tenth);
	check(own_scaled(1.5, 30, &out) == 0 && *(double *)out > 44.9, "a vector register");
	own_release(0, out);
	if (i % 10 == 0)
		leaks(i);
}

static APART void round_of_pool(int i, struct pool *lasting)
{
	struct pool *pool = pool_make();

	for (int k = 0; k < 300; k++)
		pool_give(pool, pool_take(pool, 24), 24);
	for (int k = 0; k < 20; k++)
		pool_take_zeroed(pool, 100);
	pool_clear(pool);
	free(pool);
	if (i % 10 == 0)
		leaks_of_pool(lasting);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	struct pool *lasting = pool_make();

	for (int i = 0; i < rounds; i++) {
		round_of_allocator(i);
		round_of_pool(i, lasting);
	}
	for (size_t i = 0; counts[i].name; i++)
		printf("%s %ld %ld\n", counts[i].name, counts[i].begun, counts[i].ended);
	printf("live %ld %ld\npool %ld %ld\n", live_blocks, live_bytes, pool_blocks, pool_bytes);
	return 0;
}
