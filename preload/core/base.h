/* SPDX-License-Identifier: Apache-2.0 */
/* Macros and types that every file of the collector uses. */
#ifndef TPROF_CORE_BASE_H
#define TPROF_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/arch.h"
#include "core/shared.h"

#define tpc_likely(x) __builtin_expect(!!(x), 1)
#define tpc_unlikely(x) __builtin_expect(!!(x), 0)
#define TPC_SLOW __attribute__((noinline, cold))	     /* off the hot path, and out of its cache lines */
#define TPC_APART __attribute__((noinline))		     /* hot, but not inlined; a comment says why */
#define TPC_HOT static inline __attribute__((always_inline)) /* worth its bytes at each call */
#define TPC_EXPORT __attribute__((visibility("default")))
#define TPC_NEAR __attribute__((visibility("hidden"))) /* with extern: addressed without the GOT */
/* For variables that hooks read often and that rarely change: they share as few cache lines as possible. */
#define TPC_LOOKED_AT __attribute__((section("tpc_looked_at")))
#define TPC_TLS __thread __attribute__((tls_model("initial-exec")))
#define TPC_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct tpc_range { /* of addresses: [low, high) */
	uintptr_t low, high;
};

static inline bool tpc_range_holds(struct tpc_range range, uintptr_t address)
{
	return address - range.low < range.high - range.low;
}

static inline uint64_t tpc_round_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

#endif
