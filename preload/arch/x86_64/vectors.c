/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/x86_64/vectors.h"

#include <cpuid.h>
#include <stddef.h>

uint32_t tpc_vectors_kept_by;

/* CPUID 1, ECX bit 27: the system uses XSAVE. Plain virtual processors (kvm64, qemu64) have only SSE, and FXSAVE. */
static __attribute__((noinline, cold)) uint32_t find_out(void)
{
	unsigned int a, b, c, d;
	uint32_t by = __get_cpuid(1, &a, &b, &c, &d) && c & 1u << 27 ? TPC_VECTORS_XSAVE : TPC_VECTORS_FXSAVE;

	__atomic_store_n(&tpc_vectors_kept_by, by, __ATOMIC_RELAXED); /* relaxed: each thread finds the same */
	return by;
}

/*
 * Components 0xe7: x87, SSE, AVX, AVX-512, all that carry arguments and results (Intel SDM 13.1); 2,688 bytes at most.
 */
static void with_xsave(void (*run)(void *), void *context)
{
	uint8_t area[2752] __attribute__((aligned(64)));
	uint32_t low = 0xe7, high = 0;

	for (size_t i = 512; i < 576; i += 8)
		*(volatile uint64_t *)(area + i) = 0; /* the header must be defined */
	__asm__ volatile("xsave64 %0" : "+m"(area) : "a"(low), "d"(high) : "memory");
	run(context);
	__asm__ volatile("xrstor64 %0" : : "m"(area), "a"(low), "d"(high) : "memory");
}

static void with_fxsave(void (*run)(void *), void *context)
{
	uint8_t area[512] __attribute__((aligned(16)));

	__asm__ volatile("fxsave64 %0" : "=m"(area) : : "memory");
	run(context);
	__asm__ volatile("fxrstor64 %0" : : "m"(area) : "memory");
}

void tpc_with_vectors_kept(void (*run)(void *), void *context)
{
	uint32_t by = __atomic_load_n(&tpc_vectors_kept_by, __ATOMIC_RELAXED);

	if (__builtin_expect(!by, 0))
		by = find_out();
	if (by == TPC_VECTORS_XSAVE)
		with_xsave(run, context);
	else
		with_fxsave(run, context);
}
