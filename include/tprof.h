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

/*
 * The interface that libtprof.so exports as tprof_api_1. Members are only ever added at the end; `size` tells how many
 * there are.
 */
struct tprof_api {
	uint64_t size; /* size of this struct in bytes */
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

/*
 * Excluded from -finstrument-functions: that op would begin around the op that the function begins, and end inside it.
 */
#define TPROF_UNTRACED __attribute__((__no_instrument_function__))

#ifdef __cplusplus
#define TPROF_API_CAST(found) static_cast<const struct tprof_api *>(found)
#else
#define TPROF_API_CAST(found) (const struct tprof_api *)(found)
#endif

/* The API of the libtprof.so in this process; NULL if there is none. Looked up once in each source file. */
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

/* Does the API have this member? An older libtprof.so lacks the later ones. */
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
 * Describes what the thread's innermost op works on: its shape as text ("64x128,128x10"; NULL: unknown), the
 * floating-point operations that it does and the bytes that it moves (0: unknown).
 */
static __inline__ TPROF_UNTRACED void tprof_op_detail(const char *shape, uint64_t flop, uint64_t bytes)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->op_detail(shape, flop, bytes);
}

/* Begins an op and describes what it works on: tprof_op_begin() and tprof_op_detail() in one call. */
static __inline__ TPROF_UNTRACED void tprof_op_begin_detail(const char *name, const char *category, const char *shape,
							    uint64_t flop, uint64_t bytes)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0)) {
		api->op_begin(name, category);
		api->op_detail(shape, flop, bytes);
	}
}

/* Ends a training step (or a batch, a request) in which `items` were processed (0: unknown). */
static __inline__ TPROF_UNTRACED void tprof_step(uint64_t items)
{
	const struct tprof_api *api = tprof_find_api();

	if (__builtin_expect(api != 0, 0))
		api->step(items);
}

/* Sets a mark on the timeline. */
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
 * Reports a value of the program: the number of its model's parameters ("parameters"), the batch size. The last value
 * reported under a name counts.
 */
static __inline__ TPROF_UNTRACED void tprof_value(const char *name, uint64_t value)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, value))
		api->value(name, value);
}

/*
 * Reports the blocks of a program's own allocator (an arena, a tensor cache). They count in the reports, with their
 * stacks; the memory from which they are handed out does not, so that nothing counts twice.
 *
 * Call tprof_pool_alloc() after the pool has handed out `size` bytes at `block`. `pool` is the address of the block of
 * malloc, new, ... in which `block` lies, as malloc returned it. That heap block is left out of all numbers of the
 * heap, from its allocation to its free, and is reported under "pools" instead. If a pool has several such heap blocks,
 * pass the one in which `block` lies. If the memory is not from the heap (mmap, static, a device's), `pool` is any
 * address that identifies the pool, or NULL.
 *
 * Call tprof_pool_free() before the pool takes the block back, tprof_pool_reset() before it takes back all blocks at
 * once. When the heap block `pool` is freed or reallocated, the blocks in it end too.
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
 * Starts or resumes recording: after tprof_stop(), and in a program that was started with TPROF_START=off. Does nothing
 * if recording is on.
 */
static __inline__ TPROF_UNTRACED void tprof_start(void)
{
	const struct tprof_api *api = tprof_find_api();

	if (TPROF_API_HAS(api, start))
		api->start();
}

/*
 * Pauses recording, in all threads, until tprof_start(). Blocks and ops that were recorded earlier are still followed
 * to their end, so blocks reported as unfreed really are unfreed. Blocks and ops that begin in the pause are not in the
 * report.
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

/* Records for the duration of a block of code: with TPROF_START=off, only that part of the program. */
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
