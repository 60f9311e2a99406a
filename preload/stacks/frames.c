/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/frames.h"

#include "core/tables.h"
#include "stacks/lately.h"
#include "stacks/modules.h"

#include <tprof/format.h>

struct tpc_range tpc_frame_loop[TPC_LOOP_PIECES];
static tpc_shared_u32 numbers; /* that were handed out */

uint32_t tpc_frame_number(void)
{
	return tpc_add(&numbers, 1) + 1;
}

bool tpc_frame_in_loop(uintptr_t at)
{
	bool loop = false;

	for (unsigned int i = 0; i < TPC_LOOP_PIECES; i++)
		loop |= tpc_range_holds(tpc_frame_loop[i], at);
	return loop;
}

/* A return address follows its call, which may be the function's last instruction. */
static uint8_t flags_of(uintptr_t pc, bool exact, const struct tpc_ruled *found)
{
	uintptr_t at = exact ? pc : pc - 1;
	bool untabled = found->module && (found->rule.kind == TPC_RULE_NONE || found->rule.guessed);

	return (uint8_t)((exact ? TPROF_FRAME_EXACT : 0) | (tpc_frame_in_loop(at) ? TPROF_FRAME_LOOP : 0) |
			 (untabled ? TPROF_FRAME_UNTABLED : 0) | (found->rule.guessed ? TPROF_FRAME_CODE : 0));
}

static TPC_SLOW struct tpc_frame work_out(uintptr_t pc, bool exact, uint64_t key)
{
	struct tpc_ruled found = tpc_rule_lately(pc, exact);
	struct tpc_frame frame = { found.rule, tpc_frame_number() };

	tpc_table_frame(frame.number, found.module, found.module ? pc - found.start : pc, flags_of(pc, exact, &found));
	tpc_frame_table_add(key, &frame);
	return frame;
}

/* During a dlclose: does the PC still belong to the object that the frame was worked out for? If not, forgets the frame. */
static TPC_SLOW bool is_current(uintptr_t pc, const struct tpc_frame *frame)
{
	if ((uint16_t)tpc_module_find(pc).module == frame->rule.module)
		return true;
	tpc_frames_purge(pc, pc + 1);
	return false;
}

struct tpc_frame tpc_frame_find(uintptr_t pc, bool exact)
{
	uint64_t key = (uint64_t)pc << 1 | exact;
	struct tpc_frame frame;

	if (tpc_likely(tpc_frame_table_find(key, &frame)) &&
	    (tpc_likely(!tpc_modules_unsettled()) || is_current(pc, &frame)))
		return frame;
	return work_out(pc, exact, key);
}

struct tpc_frame tpc_frame_find_anew(struct tpc_frames_set *set, uintptr_t pc)
{
	struct tpc_frame found = tpc_frame_find(pc, false);

	set->pcs[1] = set->pcs[0];
	set->frames[1] = set->frames[0];
	set->pcs[0] = pc;
	set->frames[0] = found;
	return found;
}

bool tpc_frame_known(uintptr_t pc, struct tpc_frame *frame)
{
	return tpc_frame_table_find((uint64_t)pc << 1, frame);
}

void tpc_frames_forget(void)
{
	tpc_frame_table_forget();
	tpc_unshared(numbers) = 0;
}
