/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the disk is full, table records are missing from header.tables_from on. Each chunk ends before its first event that
 * refers to a missing record or came later; the allocations and frees behind it are counted as lost.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "trace/cursor.h"
#include "trace/lost_records.h"

uint64_t tpa_missing_from(struct tpa_trace_impl *impl)
{
	uint64_t from = impl->header.tables_from, now = 0;

	/* The tables of a running program were read after its header. */
	tpa_trace_bytes_at(impl, &now, sizeof(now), offsetof(struct tprof_header, tables_from));
	if (!from || (now && now < from))
		impl->header.tables_from = now;
	return impl->header.tables_from;
}

/* Whether the records of a frame are all there. */
static bool is_known(const struct tpa_trace_impl *impl, uint32_t number)
{
	const struct tpa_frame_record *record = tpa_frame_record(impl->records, number);
	const struct tpa_trace *trace = &impl->trace;

	return record && (!record->module || tpa_module_find(trace, record->module)) &&
	       (!record->code || (record->code < trace->code_count && trace->codes[record->code].name));
}

static bool is_whole(const struct tpa_trace_impl *impl, uint64_t node)
{
	return node < TPROF_NODE_FIRST || (node < impl->whole_count && impl->whole[node]);
}

/* Both stacks that a node joins, like the parents of others, have lower numbers than the node. */
void tpa_missing_nodes(struct tpa_trace_impl *impl)
{
	const struct tpa_tables *tables = impl->records;

	free(impl->whole);
	impl->whole = tpa_zalloc(tables->node_count, 1);
	impl->whole_count = tables->node_count;
	for (size_t i = TPROF_NODE_FIRST; i < tables->node_count; i++) {
		const struct tpa_node_record *node = &tables->nodes[i];

		impl->whole[i] =
			is_whole(impl, node->parent) &&
			(tpa_is_join(node) ? is_whole(impl, node->frame & ~TPA_JOIN) : is_known(impl, node->frame));
	}
}

static bool has_op(const struct tpa_trace *trace, uint64_t number)
{
	const struct tpa_op *op = number < trace->op_count ? &trace->ops[number] : NULL;
	const struct tpa_frame *frame = op ? &trace->frames[op->frame] : NULL;

	return op && op->name && (!op->frame || frame->pc || frame->flags);
}

static bool refers_in_vain(const struct tpa_trace_impl *impl, const struct tpa_event *event)
{
	if (tpa_event_has_node(event->kind))
		return !is_whole(impl, event->node);
	if (event->kind == TPA_EVENT_OP_BEGIN || event->kind == TPA_EVENT_FOLD || event->kind == TPA_EVENT_SHAPE)
		return !has_op(&impl->trace, tpa_event_op(event));
	return false;
}

static int64_t counts(const struct tpa_event *event)
{
	return event->kind == TPA_EVENT_CANCEL ? -1 : event->kind == TPA_EVENT_ALLOC || event->kind == TPA_EVENT_FREE;
}

/* Returns how many allocations and frees were cut off. */
static int64_t cut_chunk(struct tpa_trace_impl *impl, struct tpa_cursor *cursor, struct tpa_chunk *chunk)
{
	uint64_t from = impl->header.tables_from >> impl->header.tick_shift, begin, committed = chunk->committed;
	struct tpa_event event;
	bool cut = false;
	int64_t lost = 0;
	size_t count = 0;

	tpa_cursor_open(cursor, impl, chunk);
	begin = cursor->window_offset;
	while (tpa_cursor_fill(cursor, &event, &count, 1, UINT64_MAX) != TPA_STOP_END) {
		if (!cut && (event.time >= from || refers_in_vain(impl, &event))) {
			committed = event.offset - begin;
			cut = true;
		}
		lost += cut ? counts(&event) : 0;
		count = 0;
	}
	chunk->committed = committed;
	return lost;
}

void tpa_missing_cut(struct tpa_trace_impl *impl)
{
	struct tpa_cursor *cursor = tpa_resize(NULL, 1, sizeof(*cursor));
	int64_t lost = 0;

	for (size_t i = 0; i < impl->events.count; i++)
		lost += cut_chunk(impl, cursor, &impl->events.list[i]);
	free(cursor);
	if (lost > 0 && !impl->trace.running)
		impl->header.lost[TPROF_LOST_NO_SPACE] += (uint64_t)lost;
}
