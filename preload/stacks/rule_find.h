/* SPDX-License-Identifier: Apache-2.0 */
/* Finds frame rules in a module's tables. */
#ifndef TPROF_STACKS_RULE_FIND_H
#define TPROF_STACKS_RULE_FIND_H

#include "stacks/debug_frame.h"
#include "stacks/rule.h"

/*
 * The rule at `pc`, from the module's .eh_frame_hdr. `pc` is a frame's PC: a return address is looked up one byte
 * earlier (its call may be the last instruction of a function), an interrupted instruction as it is. `reg`: the number of
 * the register that is asked for, mostly TPC_REG_FP; the caller's value of it is where the rule says for fp. *holds: the
 * surrounding code that has the same rule, as far as was seen; empty if there is no rule.
 */
struct tpc_rule tpc_rule_find(const void *eh_frame_hdr, uintptr_t pc, bool exact, unsigned int reg,
			      struct tpc_range *holds);

/* The same from a .debug_frame. */
struct tpc_rule tpc_rule_find_debug(const struct tpc_debug_frame *tables, uintptr_t pc, bool exact, unsigned int reg,
				    struct tpc_range *holds);

/*
 * The code of the function that begins at `start`. Compilers move rarely executed parts elsewhere, under names that are
 * not exported. The FDEs of such parts follow the function's own, and begin within a frame (a part that begins without
 * one can't be told from the next function). Returns how many parts were put, at most `most`; 0: the function has no
 * FDE. Scans the whole table: not for a hook.
 */
unsigned int tpc_rule_pieces(const void *eh_frame_hdr, uintptr_t start, struct tpc_range *pieces, unsigned int most);

#endif
