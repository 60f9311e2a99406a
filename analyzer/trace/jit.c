/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/impl.h"
#include "trace/jitdump.h"
#include "base/memory.h"
#include "base/order.h"

/* The node of a stack with reused addresses, during one span of time. */
struct version {
	uint64_t from, until;
	uint32_t node;
};

struct versions {
	struct version *list; /* in order of time, without overlaps */
	size_t count, room;
};

/* A node that was made for a time. */
struct timed {
	uint64_t node;
	struct tpa_node_at at;
};

struct tpa_jit_times {
	uint32_t *of_node;	  /* for each node: its index in nodes[], + 1; 0: it is the same at all times */
	size_t known, known_room; /* nodes in of_node */
	struct versions *nodes;
	size_t count, room;
	struct timed *made; /* in order of node */
	size_t made_count, made_room;
	uint32_t *stack;
	size_t stack_room;
};

/* ---- the file ---- */

static bool is_jit(const struct tpa_frame *frame)
{
	return frame->pc && !frame->module && !frame->code;
}

static bool read_in(struct tpa_jitdump *dump, const struct tpa_trace *trace, const char *folder, size_t length)
{
	char path[4096];
	int put = snprintf(path, sizeof(path), "%.*s/jit-%" PRIu32 ".dump", (int)length, folder, trace->header->pid);

	return put > 0 && (size_t)put < sizeof(path) && tpa_jitdump_read(dump, path, trace);
}

static bool read_beside(struct tpa_jitdump *dump, const struct tpa_trace *trace)
{
	const char *slash = strrchr(trace->file, '/');

	return slash ? read_in(dump, trace, trace->file, (size_t)(slash - trace->file)) : read_in(dump, trace, ".", 1);
}

static bool read_dump(struct tpa_jitdump *dump, const struct tpa_trace *trace, const char *folder)
{
	bool found = folder && read_in(dump, trace, folder, strlen(folder));

	for (size_t i = 0; !found && i < trace->jitdump_count; i++)
		found = tpa_jitdump_read(dump, trace->jitdumps[i], trace);
	return found || read_beside(dump, trace) || read_in(dump, trace, trace->cwd, strlen(trace->cwd)) ||
	       read_in(dump, trace, "/tmp", 4);
}

/* ---- frames and nodes ---- */

static uint32_t number_of(const struct tpa_jit_code *code)
{
	return code ? (uint32_t)code->order + 1 : 0;
}

uint32_t tpa_jit_latest(const struct tpa_trace *trace, const struct tpa_frame *frame)
{
	if (!trace->jit || !is_jit(frame))
		return 0;
	return number_of(tpa_jitdump_at(trace->jit, tpa_frame_address(frame), UINT64_MAX).code);
}

/* Whether different code may stand at the frame's address at other times. */
static bool changes(const struct tpa_frame *frame)
{
	return is_jit(frame) && !frame->timed;
}

/* Marks the nodes with such a frame at or above them, of those that were made since. */
static void mark_nodes(const struct tpa_trace *trace, struct tpa_jit_times *times)
{
	size_t i = times->known;

	tpa_extend(&times->of_node, &times->known, &times->known_room, trace->node_count, sizeof(*times->of_node));
	for (; i < trace->node_count; i++) {
		const struct tpa_node *node = &trace->nodes[i];

		if (!changes(&trace->frames[node->frame]) && !times->of_node[node->parent])
			continue;
		*TPA_APPEND(times->nodes, times->count, times->room) = (struct versions){ NULL };
		times->of_node[i] = (uint32_t)times->count;
	}
}

/* The node of a frame below `parent`; made if need be, for the file's node at that time. 0: no number is left. */
static uint32_t child_of(struct tpa_trace *trace, uint32_t parent, uint32_t frame, struct tpa_node_at at)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;
	size_t before = trace->node_count;
	uint32_t child = tpa_node_child(tpa_impl(trace), parent, frame, at.node);

	if (trace->node_count > before)
		*TPA_APPEND(times->made, times->made_count, times->made_room) = (struct timed){ child, at };
	return child;
}

/* Fills stack[] with the nodes from `node` outwards, up to the first that is the same at all times, which it returns. */
static uint32_t take_stack(const struct tpa_trace *trace, uint32_t node, size_t *count)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;

	*count = 0;
	for (; node >= TPROF_NODE_FIRST && times->of_node[node]; node = trace->nodes[node].parent) {
		*TPA_APPEND(times->stack, *count, times->stack_room) = node;
	}
	return node;
}

/* The stack at a time. node 0: no number is left. */
static struct version version_at(struct tpa_trace *trace, uint32_t node, uint64_t time)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;
	struct version version = { 0, UINT64_MAX, 0 };
	size_t count;
	uint32_t mixed = take_stack(trace, node, &count);

	while (count-- > 0) {
		uint32_t frame = trace->nodes[times->stack[count]].frame;

		if (changes(&trace->frames[frame])) {
			uint64_t address = tpa_frame_address(&trace->frames[frame]);
			struct tpa_jit_span span = tpa_jitdump_at(trace->jit, address, time);

			version.from = span.from > version.from ? span.from : version.from;
			version.until = span.until < version.until ? span.until : version.until;
			frame = tpa_frame_in_code(tpa_impl(trace), frame, number_of(span.code));
		}
		mixed = child_of(trace, mixed, frame,
				 (struct tpa_node_at){ tpa_impl(trace)->made.origin[times->stack[count]], time });
		if (!mixed)
			return version;
	}
	version.node = mixed;
	return version;
}

/* The index of the first version that ends after `time`. */
static size_t place_of(const struct versions *versions, uint64_t time)
{
	return TPA_UP_TO(versions->list, versions->count, until, time);
}

static const struct version *find_version(const struct versions *versions, uint64_t time)
{
	size_t at = place_of(versions, time);

	return at < versions->count && versions->list[at].from <= time ? &versions->list[at] : NULL;
}

static void add_version(struct versions *versions, const struct version *version)
{
	size_t at = place_of(versions, version->from);

	tpa_grow(&versions->list, &versions->room, versions->count + 1, sizeof(*version));
	memmove(versions->list + at + 1, versions->list + at, (versions->count - at) * sizeof(*version));
	versions->list[at] = *version;
	versions->count++;
}

uint32_t tpa_jit_node(struct tpa_trace *trace, struct tpa_node_at at)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;
	uint32_t node = tpa_trace_node(trace, at.node), number;
	const struct version *known;
	struct version version;

	if (!times)
		return node;
	mark_nodes(trace, times);
	number = times->of_node[node];
	if (!number)
		return node;
	known = find_version(&times->nodes[number - 1], at.time);
	if (known)
		return known->node;
	version = version_at(trace, node, at.time);
	if (!version.node)
		return node;
	add_version(&times->nodes[number - 1], &version);
	return version.node;
}

struct tpa_node_at tpa_jit_node_at(const struct tpa_trace *trace, uint32_t node)
{
	const struct tpa_jit_times *times = tpa_impl(trace)->jit_times;
	size_t i = times ? TPA_UP_TO(times->made, times->made_count, node, node) : 0;

	return i && times->made[i - 1].node == node
		       ? times->made[i - 1].at
		       : (struct tpa_node_at){ .node = tpa_impl(trace)->made.origin[node] };
}

/* Forgets which node a stack has at which time: code may have come to an address. */
static void forget_versions(struct tpa_jit_times *times)
{
	for (size_t i = 0; i < times->count; i++) {
		free(times->nodes[i].list);
		times->nodes[i] = (struct versions){ NULL };
	}
}

/* ---- all of it ---- */

static void free_dump(const struct tpa_jitdump *dump)
{
	if (dump)
		tpa_jitdump_free((struct tpa_jitdump *)(uintptr_t)dump);
	free((void *)(uintptr_t)dump);
}

void tpa_jit_refresh(struct tpa_trace *trace)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	struct tpa_jitdump *dump;

	if (!impl->jit_asked || !impl->has_jit)
		return;
	dump = tpa_zalloc(1, sizeof(*dump));
	/* Frames keep their numbers of code, so what has become shorter is not believed. */
	if (!read_dump(dump, trace, impl->jit_folder) || (trace->jit && dump->count < trace->jit->count)) {
		free_dump(dump);
		return;
	}
	tpa_jitdump_sort(dump);
	free_dump(trace->jit);
	trace->jit = dump;
	for (size_t i = 0; i < trace->frame_count; i++)
		if (!trace->frames[i].timed)
			trace->frames[i].jit = tpa_jit_latest(trace, &trace->frames[i]);
	if (impl->jit_times)
		forget_versions(impl->jit_times);
	else
		impl->jit_times = tpa_zalloc(1, sizeof(*impl->jit_times));
}

void tpa_jit_load(struct tpa_trace *trace, const char *folder)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);

	impl->jit_asked = true;
	impl->jit_folder = folder ? tpa_strdup(folder) : NULL;
	tpa_jit_refresh(trace);
}

void tpa_jit_free(struct tpa_trace *trace)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;

	free_dump(trace->jit);
	if (!times)
		return;
	forget_versions(times);
	free(times->nodes);
	free(times->of_node);
	free(times->made);
	free(times->stack);
	free(times);
}
