/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tprof's annotations: a program names its operators, layers, training steps and moments, and the reports know them.
 * Header only, C and C++ (Python: tprof.py). Without libtprof.so in the process each call costs a load and a branch;
 * nothing has to be linked, and nothing changes.
 *
 *     tprof_op_begin("encoder.layer3", "layer");
 *     ...
 *     tprof_op_end();
 *
 *     { tprof::op scope("loss"); ... }             // C++: ends with the block, also by an exception
 *
 * An op belongs to the thread that begins it and must end on it; ops nest. Names and texts are copied: they may be
 * temporary. Every function may be called from any thread at any time, and keeps errno.
 */
#ifndef TPROF_H
#define TPROF_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What libtprof.so offers under the name tprof_api_1. Members are only ever added at the end; `size` tells. */
struct tprof_api {
	uint64_t size; /* of this struct, bytes */
	void (*op_begin)(const char *name, const char *category);
	void (*op_end)(void);
	void (*op_detail)(const char *shape, uint64_t flop, uint64_t bytes);
	void (*step)(uint64_t items);
	void (*mark)(const char *text);
	void (*thread_name)(const char *name);
	void (*value)(const char *name, uint64_t value);
	void (*pool_alloc)(const void *pool, const void *block, size_t size);
	void (*pool_free)(const void *block);
	void (*pool_reset)(const void *pool);
	void (*start)(void);
	void (*stop)(void);
};

/* No op of -finstrument-functions: it would begin around the op that is begun in it, and end within. */
#define TPROF_UNTRACED __attribute__((__no_instrument_function__))

#ifdef __cplusplus
#define TPROF_API_CAST(found) static_cast<const struct tprof_api *>(found)
#else
#define TPROF_API_CAST(found) (const struct tprof_api *)(found)
#endif

/* The API of the libtprof.so in this process; NULL if there is none. Asked for once in each source file. */
static __inline__ TPROF_UNTRACED const struct tprof_api *tprof_find_api(void)
{
	static const struct tprof_api *api;
	static int asked;

	if (__builtin_expect(!__atomic_load_n(&asked, __ATOMIC_ACQUIRE), 0)) {
		api = TPROF_API_CAST(dlsym(NULL /* RTLD_DEFAULT */, "tprof_api_1"));
		__atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
	}
	return api;
}

/* Does it have that member? An older libtprof.so does not know the later ones. */
#define TPROF_API_HAS(api, member)                                                                                     \
	(__builtin_expect((api) != 0, 0) && (api)->size >= offsetof(struct tprof_api, member) + sizeof((api)->member))

/* Begins an op. `category` ("layer", "kernel", "io", ...) may be NULL. */
static __inline__ TPROF_UNTRACED void tprof_op_begin(const char *name, const char *category)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->op_begin(name, category);
}

/* Ends the thread's innermost op. */
static __inline__ TPROF_UNTRACED void tprof_op_end(void)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->op_end();
}

/*
 * What the thread's innermost op works on: its shape as text ("64x128,128x10"; NULL: not said), the floating-point
 * operations that it does and the bytes that it moves (0: not known).
 */
static __inline__ TPROF_UNTRACED void tprof_op_detail(const char *shape, uint64_t flop, uint64_t bytes)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->op_detail(shape, flop, bytes);
}

/* Begins an op and says what it works on, in one: tprof_op_begin(), then tprof_op_detail(). */
static __inline__ TPROF_UNTRACED void tprof_op_begin_detail(const char *name, const char *category, const char *shape,
							    uint64_t flop, uint64_t bytes)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0)) {
		api->op_begin(name, category);
		api->op_detail(shape, flop, bytes);
	}
}

/* Ends a training step (or a batch, a request), in which `items` were processed (0: not said). */
static __inline__ TPROF_UNTRACED void tprof_step(uint64_t items)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->step(items);
}

/* A moment to be seen on the timeline. */
static __inline__ TPROF_UNTRACED void tprof_mark(const char *text)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->mark(text);
}

/* Names the calling thread in the reports. */
static __inline__ TPROF_UNTRACED void tprof_thread_name(const char *name)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->thread_name(name);
}

/*
 * Something that the reports should know of the program: the number of its model's parameters ("parameters"), the batch
 * size. The last value said of a name counts.
 */
static __inline__ TPROF_UNTRACED void tprof_value(const char *name, uint64_t value)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, value))
		api->value(name, value);
}

/*
 * A program's own allocator (an arena, a tensor cache): its blocks count in the reports, with their stacks, and the memory
 * that it hands out from does not, or it would be there twice.
 *
 * tprof_pool_alloc() goes behind the pool's allocation of `size` bytes at `block`; `pool` is the address of the block of
 * malloc, new, ... that `block` lies in, as it was returned. That one is left out of all numbers of the heap, from its
 * allocation to its free, and stands under "pools" instead. A pool of several such blocks names, each time, the one that
 * `block` lies in. If the memory is not the heap's (mmap, static, a device's), `pool` is any address that tells the pool
 * from others, or NULL.
 *
 * tprof_pool_free() goes before the pool takes the block back, tprof_pool_reset() before it takes back all at once. When
 * the heap block that is `pool` is freed or reallocated, the blocks in it have ended too.
 */
static __inline__ TPROF_UNTRACED void tprof_pool_alloc(const void *pool, const void *block, size_t size)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, pool_alloc))
		api->pool_alloc(pool, block, size);
}

static __inline__ TPROF_UNTRACED void tprof_pool_free(const void *block)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, pool_free))
		api->pool_free(block);
}

static __inline__ TPROF_UNTRACED void tprof_pool_reset(const void *pool)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, pool_reset))
		api->pool_reset(pool);
}

/*
 * Recording begins, or goes on: after tprof_stop(), and in a program that was started with TPROF_START=off. Nothing if it
 * is on.
 */
static __inline__ TPROF_UNTRACED void tprof_start(void)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, start))
		api->start();
}

/*
 * Recording pauses, in all threads, until tprof_start(). Blocks and ops that were recorded are followed to their end all
 * the same, so what is unfreed in the end really is; what begins in the pause is not in the report.
 */
static __inline__ TPROF_UNTRACED void tprof_stop(void)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, stop))
		api->stop();
}

#ifdef __cplusplus
}

namespace tprof
{
/* An op that ends with its block. */
class op
{
      public:
	TPROF_UNTRACED explicit op(const char *name, const char *category = nullptr)
	{
		tprof_op_begin(name, category);
	}
	TPROF_UNTRACED op(const char *name, const char *category, const char *shape, uint64_t flop = 0,
			  uint64_t bytes = 0)
	{
		tprof_op_begin_detail(name, category, shape, flop, bytes);
	}
	TPROF_UNTRACED ~op()
	{
		tprof_op_end();
	}
	op(const op &) = delete;
	op &operator=(const op &) = delete;
};

/* Recording, for as long as the block: with TPROF_START=off, of that part of the program alone. */
class recording
{
      public:
	TPROF_UNTRACED recording()
	{
		tprof_start();
	}
	TPROF_UNTRACED ~recording()
	{
		tprof_stop();
	}
	recording(const recording &) = delete;
	recording &operator=(const recording &) = delete;
};
} /* namespace tprof */
#endif

#endif
