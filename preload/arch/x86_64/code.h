/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: the few instructions that are recognized in the program's code, and those that are generated. */
#ifndef TPROF_ARCH_X86_64_CODE_H
#define TPROF_ARCH_X86_64_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TPC_ARCH_CALL_BYTES 6u

/*
 * Is the code before a return address call FUNCTION, or call *POINTER(%rip)? Then the same function is called each
 * time. A call by a register or an object may have called another function from the same place.
 */
static inline bool tpc_arch_calls_one(const uint8_t code[TPC_ARCH_CALL_BYTES])
{
	if (code[0] == 0xff && code[1] == 0x15)
		return true;
	/* A shorter call, after bytes that may look like a longer one: call *REGISTER, call *8(REGISTER). */
	for (int i = 2; i < 5; i++)
		if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
			return false;
	return code[1] == 0xe8;
}

#define TPC_ARCH_SYSCALL_BYTES 11u

/*
 * The number in the code before a system call's return address: mov $NUMBER, %eax; syscall, maybe with mov
 * OFFSET(%rsp), %edi between, as in libc. -1: other code, so the number is unknown.
 */
static inline int32_t tpc_arch_syscall_number(const uint8_t code[TPC_ARCH_SYSCALL_BYTES])
{
	int32_t number;
	size_t at;

	if (code[9] != 0x0f || code[10] != 0x05)
		return -1;
	if (code[4] == 0xb8)
		at = 5;
	else if (code[0] == 0xb8 && code[5] == 0x8b && code[6] == 0x7c && code[7] == 0x24)
		at = 1;
	else
		return -1;
	memcpy(&number, code + at, sizeof(number));
	return number;
}

/*
 * The distance in a function that only returns a thread-local variable: mov %fs:distance,%rax; ret, maybe after
 * endbr64. 0: other code.
 */
static inline int32_t tpc_arch_thread_local_of(const uint8_t *code, size_t size)
{
	static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e, 0xfa }, load[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 };
	int32_t distance;

	if (size >= sizeof(mark) && memcmp(code, mark, sizeof(mark)) == 0) {
		code += sizeof(mark);
		size -= sizeof(mark);
	}
	if (size < sizeof(load) + sizeof(distance) + 1 || memcmp(code, load, sizeof(load)) != 0 ||
	    code[sizeof(load) + sizeof(distance)] != 0xc3)
		return 0;
	memcpy(&distance, code + sizeof(load), sizeof(distance));
	return distance;
}

#define TPC_ARCH_COPY_BYTES 6u /* of a trampoline's instruction that copies one stack argument */

#define TPC_ARCH_STUB_BYTES 16u

/* endbr64; mov $i, %r11d; jmp *target(%rip): the trampoline finds in %r11 which function it is. */
static inline void tpc_arch_write_stub(uint8_t stub[TPC_ARCH_STUB_BYTES], uint32_t i, const void *target)
{
	int32_t back = (int32_t)((const uint8_t *)target - (stub + TPC_ARCH_STUB_BYTES));

	memcpy(stub, "\xf3\x0f\x1e\xfa\x41\xbb", 6);
	memcpy(stub + 6, &i, 4);
	memcpy(stub + 10, "\xff\x25", 2);
	memcpy(stub + 12, &back, 4);
}

#endif
