/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/fields.h"

#include <string.h>

#define FIELD(of, member, name, type, unit)                                                                            \
	{                                                                                                              \
		name, unit, TP_FIELD_##type, sizeof(((struct of *)0)->member), offsetof(struct of, member), 0          \
	}
#define IF(of, condition, member, name, unit)                                                                          \
	{                                                                                                              \
		name, unit, TP_FIELD_NUMBER, sizeof(((struct of *)0)->member), offsetof(struct of, member),            \
			offsetof(struct of, condition) + 1                                                             \
	}
#define EVENT(member, name, type, unit) FIELD(tp_event, member, name, type, unit)
#define PAYLOAD(member) .payload = offsetof(struct tp_event, member)

/* clang-format off */
const struct tp_event_row tp_event_rows[TP_EVENT_KINDS] = {
	[TP_EVENT_FREE] = { "free", {
		EVENT(free.address, "address", ADDRESS, NULL),
		EVENT(free.fn, "function", FUNCTION, NULL) } },
	[TP_EVENT_UNMAP] = { "unmap", {
		EVENT(unmap.address, "address", ADDRESS, NULL),
		EVENT(unmap.length, "size", NUMBER, "bytes") } },
	[TP_EVENT_ALLOC] = { "alloc", {
		EVENT(alloc.address, "address", ADDRESS, NULL),
		EVENT(alloc.fn, "function", FUNCTION, NULL),
		EVENT(alloc.bytes, "size", NUMBER, "bytes"),
		EVENT(alloc.usable, "usable", NUMBER, "bytes"),
		EVENT(alloc.alignment_log2, "alignment", LOG2, "bytes") } },
	[TP_EVENT_MAP] = { "map", {
		EVENT(map.address, "address", ADDRESS, NULL),
		EVENT(map.length, "size", NUMBER, "bytes") } },
	[TP_EVENT_CANCEL] = { "cancel" },
	[TP_EVENT_MEMORY] = { "memory", {
		EVENT(memory.rss, "rss", NUMBER, "bytes"),
		EVENT(memory.vms, "vms", NUMBER, "bytes") },
		PAYLOAD(memory.parts), {
		IF(tp_memory_parts, said, shared, "shared", "bytes"),
		IF(tp_memory_parts, counted, own, "collector", "bytes"),
		IF(tp_memory_parts, counted, stacks, "stacks", "bytes"),
		IF(tp_memory_parts, counted, mapped, "mapped", "bytes") } },
	[TP_EVENT_NAME] = { "name", { EVENT(name, "name", TEXT, NULL) } },
	[TP_EVENT_THREAD] = { "thread" },
	[TP_EVENT_SAMPLE] = { "sample", { EVENT(sample.periods, "periods", NUMBER, NULL) } },
	[TP_EVENT_OP_BEGIN] = { "op", { EVENT(op_begin.op, "op", OP, NULL) } },
	[TP_EVENT_OP_END] = { "op_end", {
		EVENT(op_end.unwound, "unwound", FLAG, NULL),
		EVENT(op_end.kept, "within", NUMBER, NULL) } },
	[TP_EVENT_STEP] = { "step", { EVENT(step.items, "items", NUMBER, NULL) } },
	[TP_EVENT_SHAPE] = { "shape", { EVENT(shape.op, "op", OP, NULL) } },
	[TP_EVENT_DETAIL] = { "detail", {
		EVENT(detail.flop, "flop", NUMBER, "FLOP"),
		EVENT(detail.bytes, "bytes", NUMBER, "bytes"),
		EVENT(detail.shape, "shape", TEXT, NULL) } },
	[TP_EVENT_MARK] = { "mark", { EVENT(mark, "text", TEXT, NULL) } },
	[TP_EVENT_PAUSE] = { "pause" },
	[TP_EVENT_RESUME] = { "resume" },
	[TP_EVENT_COUNTERS] = { "counters", { { 0 } }, PAYLOAD(counters), {
		FIELD(tp_counters, idle_ns, "idle_ns", NUMBER, "ns") } },
	[TP_EVENT_POOL_ALLOC] = { "pool_alloc", {
		EVENT(pool_alloc.address, "address", ADDRESS, NULL),
		EVENT(pool_alloc.bytes, "size", NUMBER, "bytes"),
		EVENT(pool_alloc.pool, "pool", ADDRESS, NULL) } },
	[TP_EVENT_POOL_FREE] = { "pool_free", {
		EVENT(pool_free.address, "address", ADDRESS, NULL),
		EVENT(pool_free.whole, "whole_pool", FLAG, NULL) } },
	[TP_EVENT_WORK] = { "work", { { 0 } }, PAYLOAD(work), { { 0 } } },
	[TP_EVENT_FOLD] = { "folded", { EVENT(fold.op, "op", OP, NULL) }, PAYLOAD(fold.calls), {
		FIELD(tp_folded, counts.calls, "calls", NUMBER, NULL),
		FIELD(tp_folded, counts.ticks, "ticks", NUMBER, "ticks") } },
	[TP_EVENT_USAGE] = { "usage", { { 0 } }, PAYLOAD(usage), {
		FIELD(tp_usage, minor_faults, "minor_faults", NUMBER, NULL),
		FIELD(tp_usage, major_faults, "major_faults", NUMBER, NULL),
		FIELD(tp_usage, waits, "waits", NUMBER, NULL),
		FIELD(tp_usage, preemptions, "preemptions", NUMBER, NULL),
		FIELD(tp_usage, cpu_ns, "cpu_ns", NUMBER, "ns"),
		FIELD(tp_usage, own_cpu_ns, "thread_cpu_ns", NUMBER, "ns") } },
	[TP_EVENT_ALLOCATOR] = { "allocator", { { 0 } }, PAYLOAD(allocator), {
		FIELD(tp_allocator, allocated, "allocated", NUMBER, "bytes"),
		FIELD(tp_allocator, active, "active", NUMBER, "bytes"),
		FIELD(tp_allocator, metadata, "metadata", NUMBER, "bytes"),
		FIELD(tp_allocator, resident, "resident", NUMBER, "bytes"),
		FIELD(tp_allocator, mapped, "mapped", NUMBER, "bytes"),
		FIELD(tp_allocator, retained, "retained", NUMBER, "bytes") } },
	[TP_EVENT_REGION] = { "region", { { 0 } }, PAYLOAD(region), {
		FIELD(tp_region, low, "low", ADDRESS, NULL),
		FIELD(tp_region, high, "high", ADDRESS, NULL),
		FIELD(tp_region, kind, "part", NUMBER, NULL),
		FIELD(tp_region, file, "file", FILE, NULL),
		FIELD(tp_region, rss, "rss", NUMBER, "bytes"),
		FIELD(tp_region, pss, "pss", NUMBER, "bytes"),
		FIELD(tp_region, private, "private", NUMBER, "bytes"),
		FIELD(tp_region, written, "written", NUMBER, "bytes"),
		FIELD(tp_region, swap, "swap", NUMBER, "bytes") } },
};
/* clang-format on */

uint64_t tp_field_value(const struct tp_field *field, const void *base)
{
	const uint8_t *at = (const uint8_t *)base + field->offset;
	uint64_t value = 0;

	memcpy(&value, at, field->size < sizeof(value) ? field->size : sizeof(value)); /* little-endian */
	return value;
}

const char *tp_event_kind_name(enum tp_event_kind kind)
{
	return (unsigned)kind < TP_EVENT_KINDS ? tp_event_rows[kind].name : "?";
}
