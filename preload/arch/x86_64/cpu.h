/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: single instructions, and constants of the processor and the kernel. */
#ifndef TPROF_ARCH_X86_64_CPU_H
#define TPROF_ARCH_X86_64_CPU_H

#include <stddef.h>
#include <stdint.h>

#define TPC_ARCH_MACHINE TPROF_MACHINE_X86_64 /* header.machine (tprof/format.h) */

#define TPC_PAGE 4096u
#define TPC_ARCH_HIGHEST ((uintptr_t)1 << 47) /* of a process's addresses (Documentation/arch/x86/x86_64/mm.rst) */
#define TPC_ARCH_RED_ZONE                                                                                              \
	128u /* bytes below the stack pointer that a function may use (psABI, 3.2.2); the kernel keeps them */

static inline long tpc_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* The time stamp counter. The processor may read it early. */
static inline uint64_t tpc_arch_counter(void)
{
	uint64_t low, high; /* the upper halves are cleared (Intel SDM, RDTSC): nothing to do for them */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return high << 32 | low;
}

/*
 * The counter, read after all earlier loads. The fence waits for them (Intel SDM, RDTSC; AMD's as set up by Linux,
 * whose own clocks rely on it). rdtscp would wait, too, but is not faster; a virtual machine may hide it, and Valgrind
 * claims to have it when it does not.
 */
static inline uint64_t tpc_arch_counter_ordered(void)
{
	uint64_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
	return high << 32 | low;
}

/* Reads a performance counter that the kernel lets this process read. */
static inline uint64_t tpc_arch_performance_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

/* The number of the highest bit that is set; n is not 0. __builtin_clzl() adds a conversion that its type requires. */
static inline uint64_t tpc_arch_highest_bit(uint64_t n)
{
	uint64_t highest;

	__asm__("bsrq %1, %0" : "=r"(highest) : "r"(n) : "cc");
	return highest;
}

/* For loops that wait for another thread. */
static inline void tpc_arch_relax(void)
{
	__builtin_ia32_pause();
}

/* pthread_self(), without a call: glibc keeps it here (TLS ABI, variant II: the thread pointer points to itself). */
static inline uintptr_t tpc_arch_thread(void)
{
	uintptr_t self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

/* Fast from a few hundred bytes on (Intel, Optimization Reference Manual, 3.7.6). */
static inline void tpc_arch_copy(void *to, const void *from, size_t count)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static inline void tpc_arch_fill(void *to, int byte, size_t count)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(byte) : "memory");
}

#endif
