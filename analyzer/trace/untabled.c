/* SPDX-License-Identifier: Apache-2.0 */
/* Which recorded stacks pass code without an unwind table, found without making their nodes. */
#include "base/memory.h"
#include "trace/made.h"
#include "trace/records.h"

bool tpa_trace_has_untabled(const struct tpa_trace *trace)
{
	for (size_t i = 1; i < trace->frame_count; i++)
		if (tpa_frame_is_untabled(&trace->frames[i]))
			return true;
	return false;
}

enum { UNKNOWN, PASSES, PASSES_NOT };

static uint8_t verdict_of(struct tpa_trace_impl *impl, const struct tpa_node_record *record)
{
	uint32_t frame;

	if (tpa_is_join(record) || !record->frame)
		return UNKNOWN;
	frame = tpa_frame_made(impl, record->frame); /* may move the list of frames */
	return tpa_frame_is_untabled(&impl->trace.frames[frame]) ? PASSES : UNKNOWN;
}

bool tpa_trace_passes_untabled(const struct tpa_trace *trace, uint32_t number, struct tpa_passing *known)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	const struct tpa_node_record *records = impl->records->nodes;
	uint8_t verdict = UNKNOWN;
	uint32_t at = number;

	if (number >= impl->records->node_count)
		return false;
	tpa_extend(&known->verdicts, &known->count, &known->room, impl->records->node_count, sizeof(*known->verdicts));
	while (at >= TPROF_NODE_FIRST && !verdict) {
		verdict = known->verdicts[at] ? known->verdicts[at] : verdict_of(impl, &records[at]);
		at = records[at].parent; /* lower than the node's own number */
	}
	verdict = verdict ? verdict : PASSES_NOT;
	while (number > at && number >= TPROF_NODE_FIRST) {
		known->verdicts[number] = verdict;
		number = records[number].parent;
	}
	return verdict == PASSES;
}
