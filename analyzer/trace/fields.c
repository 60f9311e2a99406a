/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/fields.h"

#include <string.h>

#define FIELD(of, member, name, type, unit)                                                                            \
	{                                                                                                              \
		name, unit, TPA_FIELD_##type, sizeof(((struct of *)0)->member), offsetof(struct of, member), 0         \
	}
#define IF(of, condition, member, name, unit)                                                                          \
	{                                                                                                              \
		name, unit, TPA_FIELD_NUMBER, sizeof(((struct of *)0)->member), offsetof(struct of, member),           \
			offsetof(struct of, condition) + 1                                                             \
	}
#define IF_RANK(of, condition, member, name)                                                                           \
	{                                                                                                              \
		name, NULL, TPA_FIELD_RANK, sizeof(((struct of *)0)->member), offsetof(struct of, member),             \
			offsetof(struct of, condition) + 1                                                             \
	}
#define EVENT(member, name, type, unit) FIELD(tpa_event, member, name, type, unit)
#define PAYLOAD(member) .payload = offsetof(struct tpa_event, member)

/* clang-format off */
const struct tpa_event_row tpa_event_rows[TPA_EVENT_KINDS] = {
	[TPA_EVENT_FREE] = { "free", {
		EVENT(free.address, "address", ADDRESS, NULL),
		EVENT(free.fn, "function", FUNCTION, NULL) } },
	[TPA_EVENT_UNMAP] = { "unmap", {
		EVENT(unmap.address, "address", ADDRESS, NULL),
		EVENT(unmap.length, "size", NUMBER, "bytes") } },
	[TPA_EVENT_ALLOC] = { "alloc", {
		EVENT(alloc.address, "address", ADDRESS, NULL),
		EVENT(alloc.fn, "function", FUNCTION, NULL),
		EVENT(alloc.bytes, "size", NUMBER, "bytes"),
		EVENT(alloc.usable, "usable", NUMBER, "bytes"),
		EVENT(alloc.alignment_log2, "alignment", LOG2, "bytes"),
		EVENT(alloc.mean, "mean", MEAN, "bytes") } },
	[TPA_EVENT_MAP] = { "map", {
		EVENT(map.address, "address", ADDRESS, NULL),
		EVENT(map.length, "size", NUMBER, "bytes") } },
	[TPA_EVENT_CANCEL] = { "cancel" },
	[TPA_EVENT_MEMORY] = { "memory", {
		EVENT(memory.rss, "rss", NUMBER, "bytes"),
		EVENT(memory.vms, "vms", NUMBER, "bytes") },
		PAYLOAD(memory.parts), {
		IF(tpa_memory_parts, said, shared, "shared", "bytes"),
		IF(tpa_memory_parts, counted, own, "collector", "bytes"),
		IF(tpa_memory_parts, counted, stacks, "stacks", "bytes"),
		IF(tpa_memory_parts, counted, mapped, "mapped", "bytes") } },
	[TPA_EVENT_NAME] = { "name", { EVENT(name, "name", TEXT, NULL) } },
	[TPA_EVENT_THREAD] = { "thread" },
	[TPA_EVENT_SAMPLE] = { "sample", { EVENT(sample.periods, "periods", NUMBER, NULL) } },
	[TPA_EVENT_OP_BEGIN] = { "op", { EVENT(op_begin.op, "op", OP, NULL) } },
	[TPA_EVENT_OP_END] = { "op_end", {
		EVENT(op_end.unwound, "unwound", FLAG, NULL),
		EVENT(op_end.kept, "within", NUMBER, NULL) } },
	[TPA_EVENT_STEP] = { "step", { EVENT(step.items, "items", NUMBER, NULL) } },
	[TPA_EVENT_SHAPE] = { "shape", { EVENT(shape.op, "op", OP, NULL) } },
	[TPA_EVENT_DETAIL] = { "detail", {
		EVENT(detail.flop, "flop", NUMBER, "FLOP"),
		EVENT(detail.bytes, "bytes", NUMBER, "bytes"),
		EVENT(detail.shape, "shape", TEXT, NULL) } },
	[TPA_EVENT_MARK] = { "mark", { EVENT(mark, "text", TEXT, NULL) } },
	[TPA_EVENT_PAUSE] = { "pause" },
	[TPA_EVENT_RESUME] = { "resume" },
	[TPA_EVENT_COUNTERS] = { "counters", { { 0 } }, PAYLOAD(counters), {
		FIELD(tpa_counters, idle_ns, "idle_ns", NUMBER, "ns") } },
	[TPA_EVENT_POOL_ALLOC] = { "pool_alloc", {
		EVENT(pool_alloc.address, "address", ADDRESS, NULL),
		EVENT(pool_alloc.bytes, "size", NUMBER, "bytes"),
		EVENT(pool_alloc.pool, "pool", ADDRESS, NULL),
		EVENT(pool_alloc.mean, "mean", MEAN, "bytes") } },
	[TPA_EVENT_POOL_FREE] = { "pool_free", {
		EVENT(pool_free.address, "address", ADDRESS, NULL),
		EVENT(pool_free.whole, "whole_pool", FLAG, NULL) } },
	[TPA_EVENT_WORK] = { "work", { { 0 } }, PAYLOAD(work), { { 0 } } },
	[TPA_EVENT_FOLD] = { "folded", { EVENT(fold.op, "op", OP, NULL) }, PAYLOAD(fold.calls), {
		FIELD(tpa_folded, counts.calls, "calls", NUMBER, NULL),
		FIELD(tpa_folded, counts.ticks, "ticks", NUMBER, "ticks") } },
	[TPA_EVENT_USAGE] = { "usage", { { 0 } }, PAYLOAD(usage), {
		FIELD(tpa_usage, minor_faults, "minor_faults", NUMBER, NULL),
		FIELD(tpa_usage, major_faults, "major_faults", NUMBER, NULL),
		FIELD(tpa_usage, waits, "waits", NUMBER, NULL),
		FIELD(tpa_usage, preemptions, "preemptions", NUMBER, NULL),
		FIELD(tpa_usage, cpu_ns, "cpu_ns", NUMBER, "ns"),
		FIELD(tpa_usage, own_cpu_ns, "thread_cpu_ns", NUMBER, "ns") } },
	[TPA_EVENT_ALLOCATOR] = { "allocator", { { 0 } }, PAYLOAD(allocator), {
		FIELD(tpa_allocator, allocated, "allocated", NUMBER, "bytes"),
		FIELD(tpa_allocator, active, "active", NUMBER, "bytes"),
		FIELD(tpa_allocator, metadata, "metadata", NUMBER, "bytes"),
		FIELD(tpa_allocator, resident, "resident", NUMBER, "bytes"),
		FIELD(tpa_allocator, mapped, "mapped", NUMBER, "bytes"),
		FIELD(tpa_allocator, retained, "retained", NUMBER, "bytes") } },
	[TPA_EVENT_REGION] = { "region", { { 0 } }, PAYLOAD(region), {
		FIELD(tpa_region, low, "low", ADDRESS, NULL),
		FIELD(tpa_region, high, "high", ADDRESS, NULL),
		FIELD(tpa_region, kind, "part", NUMBER, NULL),
		FIELD(tpa_region, file, "file", FILE, NULL),
		FIELD(tpa_region, rss, "rss", NUMBER, "bytes"),
		FIELD(tpa_region, pss, "pss", NUMBER, "bytes"),
		FIELD(tpa_region, private, "private", NUMBER, "bytes"),
		FIELD(tpa_region, written, "written", NUMBER, "bytes"),
		FIELD(tpa_region, swap, "swap", NUMBER, "bytes") } },
	[TPA_EVENT_LEVEL] = { "level", {
		EVENT(level.mean, "mean", MEAN, "bytes"),
		EVENT(level.ops, "ops", FLAG, NULL) } },
	[TPA_EVENT_COMM] = { "comm", { { 0 } }, PAYLOAD(comm), {
		FIELD(tpa_comm, what, "call", COMM, NULL),
		FIELD(tpa_comm, begins, "begins", FLAG, NULL),
		FIELD(tpa_comm, communicator, "communicator", NUMBER, NULL),
		FIELD(tpa_comm, sequence, "sequence", NUMBER, NULL),
		FIELD(tpa_comm, peer, "peer", RANK, NULL),
		FIELD(tpa_comm, tag, "tag", RANK, NULL),
		FIELD(tpa_comm, sent, "sent", NUMBER, "bytes"),
		FIELD(tpa_comm, received, "received", NUMBER, "bytes"),
		FIELD(tpa_comm, request, "request", NUMBER, NULL),
		IF_RANK(tpa_comm, both, source, "source"),
		IF_RANK(tpa_comm, both, source_tag, "source_tag") } },
	[TPA_EVENT_COMM_DONE] = { "comm_done", { { 0 } }, PAYLOAD(comm_done), {
		FIELD(tpa_comm_done, request, "request", NUMBER, NULL),
		FIELD(tpa_comm_done, cancelled, "dropped", FLAG, NULL),
		FIELD(tpa_comm_done, freed, "freed", FLAG, NULL),
		IF_RANK(tpa_comm_done, status, source, "source"),
		IF_RANK(tpa_comm_done, status, tag, "tag"),
		IF(tpa_comm_done, status, bytes, "received", "bytes") } },
	[TPA_EVENT_WAITED] = { "waited", {
		EVENT(waited.op, "op", OP, NULL),
		EVENT(waited.ticks, "ticks", NUMBER, "ticks") } },
};
/* clang-format on */

uint64_t tpa_field_value(const struct tpa_field *field, const void *base)
{
	const uint8_t *at = (const uint8_t *)base + field->offset;
	uint64_t value = 0;

	memcpy(&value, at, field->size < sizeof(value) ? field->size : sizeof(value)); /* little-endian */
	return value;
}

const char *tpa_event_kind_name(enum tpa_event_kind kind)
{
	return (unsigned)kind < TPA_EVENT_KINDS ? tpa_event_rows[kind].name : "?";
}

const char *tpa_fn_name(unsigned fn)
{
	static const char *const names[] = {
		[TPROF_FN_MALLOC] = "malloc",
		[TPROF_FN_CALLOC] = "calloc",
		[TPROF_FN_REALLOC] = "realloc",
		[TPROF_FN_REALLOCARRAY] = "reallocarray",
		[TPROF_FN_MEMALIGN] = "memalign",
		[TPROF_FN_POSIX_MEMALIGN] = "posix_memalign",
		[TPROF_FN_ALIGNED_ALLOC] = "aligned_alloc",
		[TPROF_FN_VALLOC] = "valloc",
		[TPROF_FN_PVALLOC] = "pvalloc",
		[TPROF_FN_NEW] = "new",
		[TPROF_FN_NEW_ARRAY] = "new[]",
		[TPROF_FN_MALLOCX] = "mallocx",
		[TPROF_FN_RALLOCX] = "rallocx",
		[TPROF_FN_XALLOCX] = "xallocx",
		[TPROF_FN_PYTHON_MALLOC] = "python malloc",
		[TPROF_FN_PYTHON_CALLOC] = "python calloc",
		[TPROF_FN_PYTHON_REALLOC] = "python realloc",
		[TPROF_FN_RULED_ALLOC] = "alloc by rule",
		[TPROF_FN_RULED_REALLOC] = "realloc by rule",
		[TPROF_FN_FREE] = "free",
		[TPROF_FN_CFREE] = "cfree",
		[TPROF_FN_FREE_SIZED] = "free_sized",
		[TPROF_FN_FREE_ALIGNED_SIZED] = "free_aligned_sized",
		[TPROF_FN_DELETE] = "delete",
		[TPROF_FN_DELETE_ARRAY] = "delete[]",
		[TPROF_FN_DALLOCX] = "dallocx",
		[TPROF_FN_SDALLOCX] = "sdallocx",
		[TPROF_FN_PYTHON_FREE] = "python free",
		[TPROF_FN_RULED_FREE] = "free by rule",
	};

	return fn < sizeof(names) / sizeof(*names) && names[fn] ? names[fn] : "?";
}
