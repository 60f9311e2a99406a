/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/kernels.h"

/*
 * A multiply-add takes 4 or 5 cycles, and two units begin one each per cycle: 10 chains keep them busy. Uses 12, which
 * fit into 16 registers. An empty asm in each chain keeps the compiler from merging or moving them.
 */
#define CHAINS 12

typedef float f128 __attribute__((vector_size(16)));
typedef float f256 __attribute__((vector_size(32)));
typedef float f512 __attribute__((vector_size(64)));
typedef double d128 __attribute__((vector_size(16)));
typedef double d256 __attribute__((vector_size(32)));
typedef double d512 __attribute__((vector_size(64)));

#define STEP(c)                                                                                                        \
	(c) = (c)*factor + term;                                                                                       \
	__asm__ volatile("" : "+v"(c))

/* Converges to a fixed point, so that numbers stay in range. */
#define FLOP_KERNEL(name, isa, type, scalar)                                                                           \
	__attribute__((target(isa))) static double name(uint64_t rounds)                                               \
	{                                                                                                              \
		const type factor = (type){ 0 } + (scalar)0.999, term = (type){ 0 } + (scalar)0.001;                   \
		type a = term, b = term, c = term, d = term, e = term, f = term;                                       \
		type g = term, h = term, i = term, j = term, k = term, l = term;                                       \
                                                                                                                       \
		for (uint64_t round = 0; round < rounds; round++) {                                                    \
			STEP(a);                                                                                       \
			STEP(b);                                                                                       \
			STEP(c);                                                                                       \
			STEP(d);                                                                                       \
			STEP(e);                                                                                       \
			STEP(f);                                                                                       \
			STEP(g);                                                                                       \
			STEP(h);                                                                                       \
			STEP(i);                                                                                       \
			STEP(j);                                                                                       \
			STEP(k);                                                                                       \
			STEP(l);                                                                                       \
		}                                                                                                      \
		return (double)rounds * CHAINS * 2.0 * (double)sizeof(type) / (double)sizeof(scalar);                  \
	}

FLOP_KERNEL(flop_sse2_single, "sse2", f128, float)
FLOP_KERNEL(flop_sse2_double, "sse2", d128, double)
FLOP_KERNEL(flop_sse_single, "avx,fma", f128, float)
FLOP_KERNEL(flop_sse_double, "avx,fma", d128, double)
FLOP_KERNEL(flop_avx2_single, "avx2,fma", f256, float)
FLOP_KERNEL(flop_avx2_double, "avx2,fma", d256, double)
FLOP_KERNEL(flop_avx512_single, "avx512f,fma", f512, float)
FLOP_KERNEL(flop_avx512_double, "avx512f,fma", d512, double)

/* NOLINTBEGIN(bugprone-macro-parentheses): a type can't have parentheses */
#define LOAD(type, from, i)                                                                                            \
	value = *(const volatile type *)(const void *)((from) + (i) * sizeof(type));                                   \
	__asm__ volatile("" ::"v"(value))

/* NOLINTEND(bugprone-macro-parentheses) */

/* Prefetches the lines `ahead` bytes further on, unless it is 0. */
#define FETCH(type, from, ahead)                                                                                       \
	do {                                                                                                           \
		for (size_t line = 0; (ahead) && line < 4 * sizeof(type); line += 64)                                  \
			__builtin_prefetch((from) + (ahead) + line);                                                   \
	} while (0)

#define LOAD_FOUR(type, from, ahead)                                                                                   \
	FETCH(type, from, ahead);                                                                                      \
	LOAD(type, from, 0);                                                                                           \
	LOAD(type, from, 1);                                                                                           \
	LOAD(type, from, 2);                                                                                           \
	LOAD(type, from, 3)

/* Reads this many streams at once, each a consecutive part of the set. */
#define LOAD_KERNEL(name, isa, type, streams, ahead)                                                                   \
	__attribute__((target(isa))) static void name(const void *at, size_t bytes, uint64_t rounds)                   \
	{                                                                                                              \
		size_t part = bytes / (streams);                                                                       \
                                                                                                                       \
		for (uint64_t round = 0; round < rounds; round++) {                                                    \
			for (const char *p = at, *end = p + part; p < end; p += 4 * sizeof(type)) {                    \
				type value;                                                                            \
                                                                                                                       \
				_Pragma("GCC unroll 4") for (size_t s = 0; s < (streams); s++)                         \
				{                                                                                      \
					LOAD_FOUR(type, p + s * part, ahead);                                          \
				}                                                                                      \
			}                                                                                              \
		}                                                                                                      \
	}

/*
 * The best number of streams for the prefetcher, and whether software prefetches help, differ between processors: try
 * all. Half a KiB ahead is the best of 0 to 4 KiB; for nearer caches prefetches cost more than they gain.
 */
#define LOAD_KERNELS(width, isa, type)                                                                                 \
	LOAD_KERNEL(width##_1, isa, type, 1, 0)                                                                        \
	LOAD_KERNEL(width##_2, isa, type, 2, 0)                                                                        \
	LOAD_KERNEL(width##_4, isa, type, 4, 0)                                                                        \
	LOAD_KERNEL(width##_ahead, isa, type, 4, 512)                                                                  \
	static tpa_load_kernel *const width##_kernels[] = { width##_1, width##_2, width##_4, width##_ahead, NULL };

LOAD_KERNELS(load_sse, "sse2", f128)
LOAD_KERNELS(load_avx, "avx", f256)
LOAD_KERNELS(load_avx512, "avx512f", f512)

static bool has_fma(void)
{
	return __builtin_cpu_supports("avx") && __builtin_cpu_supports("fma");
}

tpa_flop_kernel *tpa_flop_kernel_of(enum tpa_width width, enum tpa_precision precision)
{
	bool single = precision == TPA_SINGLE;

	if (precision > TPA_DOUBLE)
		return tpa_narrow_kernel_of(width, precision);
	switch (width) {
	case TPA_WIDTH_AMX:
		return NULL;
	case TPA_WIDTH_AVX512:
		if (!__builtin_cpu_supports("avx512f"))
			return NULL;
		return single ? flop_avx512_single : flop_avx512_double;
	case TPA_WIDTH_AVX2:
		if (!__builtin_cpu_supports("avx2") || !has_fma())
			return NULL;
		return single ? flop_avx2_single : flop_avx2_double;
	default:
		if (has_fma())
			return single ? flop_sse_single : flop_sse_double;
		return single ? flop_sse2_single : flop_sse2_double;
	}
}

tpa_load_kernel *const *tpa_load_kernels_widest(void)
{
	if (__builtin_cpu_supports("avx512f"))
		return load_avx512_kernels;
	return __builtin_cpu_supports("avx") ? load_avx_kernels : load_sse_kernels;
}
