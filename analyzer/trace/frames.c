/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the trace's frames of the file's: with run-time addresses, and each once, though two threads may have met it at once. */
#include <stdlib.h>

#include "trace/jit.h"
#include "trace/made.h"
#include "trace/records.h"

#define IS_CODE 256u   /* behind the flags in a key: the number before them is that of code in the jitdump, */
#define IS_PYTHON 512u /* or the frame is Python's */
#define KEY_SHIFT 10

static uint32_t intern(struct tpa_trace_impl *impl, uint64_t a, uint64_t b, const struct tpa_frame *frame)
{
	struct tpa_trace *trace = &impl->trace;
	bool found;
	uint32_t *number;

	if (trace->frame_count >= UINT32_MAX)
		return 0;
	number = tpa_pairs_at(&impl->made.frames, a, b, &found);
	if (found)
		return *number;
	*number = (uint32_t)trace->frame_count;
	*TPA_APPEND(trace->frames, trace->frame_count, impl->made.frame_room) = *frame;
	return *number;
}

/* False: its record is missing. */
static bool resolve(struct tpa_trace_impl *impl, uint32_t number, struct tpa_frame *frame)
{
	const struct tpa_frame_record *record = tpa_frame_record(impl->records, number);

	*frame = (struct tpa_frame){ 0 };
	if (!record)
		return false;
	frame->module = tpa_module_find(&impl->trace, record->module);
	if (record->module && !frame->module && impl->header.tables_from)
		return false; /* treated as if its own record were missing */
	frame->pc = record->pc + (frame->module ? frame->module->start : 0);
	frame->code = record->code;
	frame->line = record->line;
	frame->flags = record->flags;
	frame->jit = tpa_jit_latest(&impl->trace, frame);
	return true;
}

uint32_t tpa_frame_made(struct tpa_trace_impl *impl, uint32_t number)
{
	struct tpa_made *made = &impl->made;
	const struct tpa_frame_record *record;
	struct tpa_frame frame;
	uint32_t frame_number;
	bool known;

	if (number < made->of_frame_count && made->of_frame[number])
		return made->of_frame[number];
	known = resolve(impl, number, &frame);
	record = tpa_frame_record(impl->records, number);
	if (frame.code)
		frame_number = intern(impl, (uint64_t)frame.code << 32 | frame.line, IS_PYTHON | frame.flags, &frame);
	else if (frame.pc)
		frame_number = intern(impl, record->pc, (uint64_t)record->module << KEY_SHIFT | frame.flags, &frame);
	else
		frame_number = intern(impl, number, UINT64_MAX - known, &frame);
	if (known) {
		tpa_extend(&made->of_frame, &made->of_frame_count, &made->of_frame_room, (size_t)number + 1,
			   sizeof(*made->of_frame));
		made->of_frame[number] = frame_number;
	}
	return frame_number;
}

bool tpa_trace_recorded_frame(const struct tpa_trace *trace, size_t number, uint32_t *frame)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);

	if (number >= impl->records->frame_count)
		return false;
	*frame = tpa_frame_record(impl->records, (uint32_t)number) ? tpa_frame_made(impl, (uint32_t)number) : 0;
	return true;
}

uint32_t tpa_frame_in_code(struct tpa_trace_impl *impl, uint32_t number, uint32_t code)
{
	struct tpa_frame frame = impl->trace.frames[number];

	frame.jit = code;
	frame.timed = true;
	return intern(impl, frame.pc, (uint64_t)code << KEY_SHIFT | IS_CODE | frame.flags, &frame);
}
