/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: registers, in unwind tables and in what the kernel pushes for a signal. */
#ifndef TPROF_ARCH_X86_64_REGISTERS_H
#define TPROF_ARCH_X86_64_REGISTERS_H

#include <tprof/format.h>

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum { /* DWARF's numbers, psABI figure 3.36 */
       TPC_REG_RBX = 3,
       TPC_REG_FP = 6, /* rbp */
       TPC_REG_SP = 7, /* rsp */
       TPC_REG_R12 = 12,
       TPC_REG_R15 = 15,
       TPC_REG_RA = 16,
};

/* Does a called function preserve the register? (It preserves rbp, too, but frame rules handle that one.) */
static inline bool tpc_arch_survives_calls(unsigned int reg)
{
	return reg == TPC_REG_RBX || (reg >= TPC_REG_R12 && reg <= TPC_REG_R15);
}

/* The address of a register in the kernel's ucontext (asm/sigcontext.h after uc_flags, uc_link, uc_stack). */
static inline uintptr_t tpc_arch_saved_at(uintptr_t context, unsigned int reg)
{
	static const uint8_t offsets[] = {
		144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, [TPC_REG_RA] = 168,
	};

	return context + offsets[reg];
}

static inline uintptr_t tpc_arch_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t tpc_arch_sp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/* The kernel's rt_sigframe: a return address, its own ucontext and, after that, the siginfo. */
enum { TPC_ARCH_FRAME_CONTEXT = 8, TPC_ARCH_FRAME_INFO = TPC_ARCH_FRAME_CONTEXT + 304 };

/*
 * The signal's number, if its handler has just been entered: the arguments are in the frame at its stack pointer. 0: it
 * has not.
 */
static inline int64_t tpc_arch_delivered(const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	greg_t sp = registers[REG_RSP];

	if (registers[REG_RDX] != sp + TPC_ARCH_FRAME_CONTEXT || registers[REG_RSI] != sp + TPC_ARCH_FRAME_INFO)
		return 0;
	return registers[REG_RDI];
}

/* The context that such a handler was given. */
static inline const ucontext_t *tpc_arch_handlers_context(const ucontext_t *context)
{
	return (const ucontext_t *)context->uc_mcontext.gregs[REG_RDX]; // NOLINT(performance-no-int-to-ptr)
}

/* The result of an interrupted system call, and its arguments; it can be restarted when the handler returns. */
static inline int64_t tpc_arch_result(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RAX];
}

static inline greg_t *tpc_arch_argument(ucontext_t *context, unsigned int i)
{
	static const uint8_t arguments[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };

	return &context->uc_mcontext.gregs[arguments[i]];
}

static inline void tpc_arch_call_again(ucontext_t *context, int32_t number)
{
	context->uc_mcontext.gregs[REG_RAX] = number;
	context->uc_mcontext.gregs[REG_RIP] -= 2;
}

/* The calling function's program counter, stack pointer, and callee-saved registers. */
static inline __attribute__((always_inline)) void tpc_arch_note_registers(struct tprof_registers *here)
{
	__asm__ volatile("1:\tleaq 1b(%%rip), %%rax\n\tmovq %%rax, 0(%0)\n\tmovq %%rsp, 8(%0)\n\t"
			 "movq %%rbx, 16(%0)\n\tmovq %%rbp, 24(%0)\n\tmovq %%r12, 32(%0)\n\t"
			 "movq %%r13, 40(%0)\n\tmovq %%r14, 48(%0)\n\tmovq %%r15, 56(%0)"
			 :
			 : "r"(here)
			 : "rax", "memory");
}

#endif
