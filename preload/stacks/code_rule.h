/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame rule without unwind tables: the code itself is read from the PC on to a return, and what it does to the stack
 * pointer on the way tells where the return address is. Compilers keep the stack pointer's distance from it the same on
 * each way to a place, so any way will do. The result is a guess: a call that never returns may be the last of its
 * function, and what is read then is the next one.
 */
#ifndef TPROF_STACKS_CODE_RULE_H
#define TPROF_STACKS_CODE_RULE_H

#include "core/base.h"
#include "stacks/rule.h"

/*
 * `code`: readable memory around `pc`. `exact`: pc was interrupted, and is no return address. TPC_RULE_NONE: no way to a
 * return was found, or none that can be understood. Takes bounded time and 1.5 KiB of stack.
 */
struct tpc_rule tpc_code_rule(struct tpc_range code, uintptr_t pc, bool exact);

/* Is there a call just before `pc`, as before each return address? Reads up to 7 bytes before it, in `code`. */
bool tpc_code_follows_call(struct tpc_range code, uintptr_t pc);

#endif
