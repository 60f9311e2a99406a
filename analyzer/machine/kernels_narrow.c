/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peaks of number formats narrower than single precision, by their own instructions: VDPBF16PS, VFMADDPH, VPDPBUSD
 * (without any of these, VPMADDUBSW with two helpers), and AMX tiles. Integer operations count like FLOP: a
 * multiplication and an addition are two.
 */
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/kernels.h"

#define CHAINS 12 /* as in kernels.c */

/* An empty asm in each chain keeps the compiler from merging or moving them. */
#define STEP(c, expression)                                                                                            \
	(c) = (expression);                                                                                            \
	__asm__ volatile("" : "+v"(c))

/* NOLINTBEGIN(bugprone-macro-parentheses): a type can't have parentheses */
#define NARROW_KERNEL(name, isa, type, zero, operations, next)                                                         \
	__attribute__((target(isa))) static double name(uint64_t rounds)                                               \
	{                                                                                                              \
		type chains[CHAINS];                                                                                   \
		type left = zero, right = zero;                                                                        \
                                                                                                                       \
		__asm__ volatile("" : "+v"(left), "+v"(right));                                                        \
		for (int i = 0; i < CHAINS; i++)                                                                       \
			chains[i] = zero;                                                                              \
		for (uint64_t round = 0; round < rounds; round++) {                                                    \
			_Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                                      \
			{                                                                                              \
				type c = chains[i];                                                                    \
                                                                                                                       \
				STEP(c, next);                                                                         \
				chains[i] = c;                                                                         \
			}                                                                                              \
		}                                                                                                      \
		return (double)rounds * CHAINS * (operations);                                                         \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

/* The asm makes the operand look new each time, so that no part of the computation is hoisted. */
__attribute__((target("avx2"))) static inline __m256i add_products(__m256i sum, __m256i left, __m256i right)
{
	__asm__ volatile("" : "+v"(left));
	return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(left, right), right));
}

/* sum * left + right. Uses no intrinsic: older compilers know the instruction, but lack the vector type. */
__attribute__((target("avx512f"))) static inline __m512i fused_half(__m512i sum, __m512i left, __m512i right)
{
	__asm__("vfmadd213ph %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
	return sum;
}

NARROW_KERNEL(bf16_avx512, "avx512f,avx512bf16", __m512, _mm512_setzero_ps(), 64,
	      _mm512_dpbf16_ps(c, (__m512bh)left, (__m512bh)right))
NARROW_KERNEL(half_avx512, "avx512f", __m512i, _mm512_setzero_si512(), 64, fused_half(c, left, right))
NARROW_KERNEL(int8_avx512, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(), 128,
	      _mm512_dpbusd_epi32(c, left, right))
NARROW_KERNEL(int8_avx_vnni, "avx2,avxvnni", __m256i, _mm256_setzero_si256(), 64,
	      _mm256_dpbusd_avx_epi32(c, left, right))
NARROW_KERNEL(int8_avx2, "avx2", __m256i, _mm256_setzero_si256(), 64, add_products(c, left, right))

/* ---- AMX: tiles of 16 rows of 64 bytes ---- */

#define XFEATURE_TILES 18
#define ARCH_REQUEST 0x1023 /* arch_prctl(2): ARCH_REQ_XCOMP_PERM */

struct tile_config {
	uint8_t palette, start_row, reserved[14];
	uint16_t row_bytes[16];
	uint8_t rows[16];
};

#define SIX_TILES(multiply)                                                                                            \
	do {                                                                                                           \
		multiply(0, 6, 7);                                                                                     \
		multiply(1, 6, 7);                                                                                     \
		multiply(2, 6, 7);                                                                                     \
		multiply(3, 6, 7);                                                                                     \
		multiply(4, 6, 7);                                                                                     \
		multiply(5, 6, 7);                                                                                     \
	} while (0)

static const struct tile_config all_tiles = {
	.palette = 1,
	.row_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
	.rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};

/* Six independent results in flight, each of 16 x 16 values from rows and columns of 64 bytes. All are zero. */
#define TILE_KERNEL(name, isa, multiply, products)                                                                     \
	__attribute__((target(isa))) static double name(uint64_t rounds)                                               \
	{                                                                                                              \
		_tile_loadconfig(&all_tiles);                                                                          \
		for (uint64_t round = 0; round < rounds; round++)                                                      \
			SIX_TILES(multiply);                                                                           \
		_tile_release();                                                                                       \
		return (double)rounds * 6 * 2 * 16 * 16 * (products);                                                  \
	}

TILE_KERNEL(bf16_amx, "amx-tile,amx-bf16", _tile_dpbf16ps, 32)
TILE_KERNEL(int8_amx, "amx-tile,amx-int8", _tile_dpbusd, 64)

/* ---- available features ---- */

enum feature { BF16, FP16, VNNI, AVX_VNNI, AMX_BF16, AMX_INT8, FEATURES };

/* CPUID leaf 7: Intel's manual, volume 2A, table 3-8. */
static bool has(enum feature feature)
{
	static const struct {
		unsigned leaf, word, bit;
	} at[FEATURES] = { [BF16] = { 1, 0, 5 },     [FP16] = { 0, 3, 23 },	[VNNI] = { 0, 2, 11 },
			   [AVX_VNNI] = { 1, 0, 4 }, [AMX_BF16] = { 0, 3, 22 }, [AMX_INT8] = { 0, 3, 25 } };
	unsigned words[4];

	if (!__get_cpuid_count(7, at[feature].leaf, &words[0], &words[1], &words[2], &words[3]))
		return false;
	return words[at[feature].word] >> at[feature].bit & 1;
}

/* The kernel permits tiles only to a process that requests them. */
static bool tiles_allowed(void)
{
	return syscall(SYS_arch_prctl, ARCH_REQUEST, XFEATURE_TILES) == 0;
}

static tpa_flop_kernel *of_amx(enum tpa_precision precision)
{
	if (precision == TPA_BF16 && has(AMX_BF16) && tiles_allowed())
		return bf16_amx;
	return precision == TPA_INT8 && has(AMX_INT8) && tiles_allowed() ? int8_amx : NULL;
}

static tpa_flop_kernel *of_avx512(enum tpa_precision precision)
{
	if (!__builtin_cpu_supports("avx512f"))
		return NULL;
	if (precision == TPA_BF16)
		return has(BF16) ? bf16_avx512 : NULL;
	if (precision == TPA_HALF)
		return has(FP16) ? half_avx512 : NULL;
	return has(VNNI) ? int8_avx512 : NULL;
}

tpa_flop_kernel *tpa_narrow_kernel_of(enum tpa_width width, enum tpa_precision precision)
{
	if (width == TPA_WIDTH_AMX)
		return of_amx(precision);
	if (width == TPA_WIDTH_AVX512)
		return of_avx512(precision);
	if (width != TPA_WIDTH_AVX2 || precision != TPA_INT8 || !__builtin_cpu_supports("avx2"))
		return NULL;
	return has(AVX_VNNI) ? int8_avx_vnni : int8_avx2;
}
