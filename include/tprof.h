/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tprof's annotations: a program names its operators, layers, training steps and moments, and the reports know them.
 * Header only, C and C++. Without libtprof.so in the process each call costs a load and a branch; nothing has to be
 * linked, and nothing changes.
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
};

/* The API of the libtprof.so in this process; NULL if there is none. Asked for once in each source file. */
static inline const struct tprof_api *tprof_api(void)
{
	static const struct tprof_api *api;
	static int asked;

	if (__builtin_expect(!__atomic_load_n(&asked, __ATOMIC_ACQUIRE), 0)) {
		api = (const struct tprof_api *)dlsym((void *)0 /* RTLD_DEFAULT */, "tprof_api_1");
		__atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
	}
	return api;
}

/* Begins an op. `category` ("layer", "kernel", "io", ...) may be NULL. */
static inline void tprof_op_begin(const char *name, const char *category)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0))
		api->op_begin(name, category);
}

/* Ends the thread's innermost op. */
static inline void tprof_op_end(void)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0))
		api->op_end();
}

/*
 * What the thread's innermost op works on: its shape as text ("64x128,128x10"; NULL: not said), the floating-point
 * operations that it does and the bytes that it moves (0: not known).
 */
static inline void tprof_op_detail(const char *shape, uint64_t flop, uint64_t bytes)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0))
		api->op_detail(shape, flop, bytes);
}

/* Ends a training step (or a batch, a request), in which `items` were processed (0: not said). */
static inline void tprof_step(uint64_t items)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0))
		api->step(items);
}

/* A moment to be seen on the timeline. */
static inline void tprof_mark(const char *text)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0))
		api->mark(text);
}

/* Names the calling thread in the reports. */
static inline void tprof_thread_name(const char *name)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0))
		api->thread_name(name);
}

/*
 * Something that the reports should know of the program: the number of its model's parameters ("parameters"), the batch
 * size. The last value said of a name counts.
 */
static inline void tprof_value(const char *name, uint64_t value)
{
	const struct tprof_api *api = tprof_api();

	if (__builtin_expect(api != 0, 0) && api->size > __builtin_offsetof(struct tprof_api, value))
		api->value(name, value);
}

#ifdef __cplusplus
}

namespace tprof
{
class op
{
      public:
	explicit op(const char *name, const char *category = nullptr)
	{
		tprof_op_begin(name, category);
	}
	~op()
	{
		tprof_op_end();
	}
	op(const op &) = delete;
	op &operator=(const op &) = delete;
};
} // namespace tprof
#endif

#endif
