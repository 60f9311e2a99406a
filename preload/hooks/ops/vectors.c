/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/vectors.h"

/*
 * Components 0xe7: x87, SSE, AVX, AVX-512, all that carry arguments and results (Intel SDM 13.1); 2,688 bytes at most.
 */
void tp_with_vectors_kept(void (*run)(void *), void *context)
{
	uint8_t area[2752] __attribute__((aligned(64)));
	uint32_t low = 0xe7, high = 0;

	for (size_t i = 512; i < 576; i += 8)
		*(volatile uint64_t *)(area + i) = 0; /* the header must be defined */
	__asm__ volatile("xsave64 %0" : "+m"(area) : "a"(low), "d"(high) : "memory");
	run(context);
	__asm__ volatile("xrstor64 %0" : : "m"(area), "a"(low), "d"(high) : "memory");
}
