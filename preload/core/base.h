/* SPDX-License-Identifier: Apache-2.0 */
/* Words that every file of the collector uses. */
#ifndef TPROF_CORE_BASE_H
#define TPROF_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/arch.h"

#define tp_likely(x) __builtin_expect(!!(x), 1)
#define tp_unlikely(x) __builtin_expect(!!(x), 0)
#define TP_SLOW __attribute__((noinline, cold))		    /* off the hot path: kept out of its cache lines */
#define TP_APART __attribute__((noinline))		    /* hot, and better a function of its own: says why */
#define TP_HOT static inline __attribute__((always_inline)) /* on it: worth its bytes at each place */
#define TP_EXPORT __attribute__((visibility("default")))
#define TP_NEAR __attribute__((visibility("hidden"))) /* with extern: loaded without asking the GOT where it is */
/* Of a variable that hooks look at and hardly anything sets: all of these lie together, in as few cache lines as can be. */
#define TP_LOOKED_AT __attribute__((section("tp_looked_at")))
#define TP_TLS __thread __attribute__((tls_model("initial-exec")))
#define TP_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define tp_load(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define tp_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define tp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define tp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define tp_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)

/* Sets *p to `to` if it is `from`. */
#define tp_swap_if(p, from, to)                                                                                        \
	__extension__({                                                                                                \
		__typeof__(*(p)) tp_from = (from);                                                                     \
		__atomic_compare_exchange_n((p), &tp_from, (to), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);           \
	})

struct tp_range { /* of addresses: [low, high) */
	uintptr_t low, high;
};

static inline bool tp_range_holds(struct tp_range range, uintptr_t address)
{
	return address - range.low < range.high - range.low;
}

static inline uint64_t tp_round_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

#endif
