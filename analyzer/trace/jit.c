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
#include "base/pairs.h"

/* The node of a stack with reused addresses, during one span of time. */
struct version {
	uint64_t from, until;
	uint32_t node;
};

struct versions {
	struct version *list; /* in order of time, without overlaps */
	size_t count, room;
};

struct tpa_jit_times {
	size_t node_count; /* of the file; what was made stands behind */
	bool *reused;	   /* frames of the file at whose address several codes stood */
	uint32_t *of_node; /* for each node: its index in nodes[], + 1; 0: it is the same at all times */
	struct versions *nodes;
	size_t count;
	struct tpa_node_at *made; /* each node that was made */
	size_t made_room, frame_room, node_room;
	struct tpa_pairs frames;   /* (frame, code) -> the frame in that code */
	struct tpa_pairs children; /* (parent, frame) -> a node that was made */
	uint32_t *stack;
	size_t stack_room;
};

/* ---- the file ---- */

static bool is_jit(const struct tpa_frame *frame)
{
	return frame->pc && !frame->module && !frame->code;
}

static bool has_jit(const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->frame_count; i++)
		if (is_jit(&trace->frames[i]))
			return true;
	return false;
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

static uint32_t number_of(const struct tpa_jitdump *dump, const struct tpa_jit_code *code)
{
	return code ? (uint32_t)(code - dump->codes) + 1 : 0;
}

/* Gives each frame the last code at its address. Sets *any if an address was reused. */
static void name_frames(struct tpa_trace *trace, bool *reused, bool *any)
{
	for (size_t i = 0; i < trace->frame_count; i++) {
		struct tpa_frame *frame = &trace->frames[i];
		struct tpa_jit_span span;

		if (!is_jit(frame))
			continue;
		span = tpa_jitdump_at(trace->jit, tpa_frame_address(frame), UINT64_MAX);
		frame->jit = number_of(trace->jit, span.code);
		reused[i] = span.code && span.from;
		*any |= reused[i];
	}
}

/* Marks the nodes with a reused frame at or above them. */
static void mark_nodes(const struct tpa_trace *trace, struct tpa_jit_times *times)
{
	times->of_node = tpa_zalloc(trace->node_count, sizeof(*times->of_node));
	for (size_t i = TPROF_NODE_FIRST; i < trace->node_count; i++) {
		const struct tpa_node *node = &trace->nodes[i];

		if (node->frame && (times->reused[node->frame] || times->of_node[node->parent]))
			times->of_node[i] = (uint32_t)++times->count;
	}
	times->nodes = tpa_zalloc(times->count, sizeof(*times->nodes));
}

/* The frame in that code; made if need be. 0: no number is left. */
static uint32_t frame_in(struct tpa_trace *trace, uint32_t frame, uint32_t code)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;
	uint32_t number = tpa_pairs_find(&times->frames, frame, code);

	if (number)
		return number;
	number = (uint32_t)trace->frame_count;
	if (trace->frame_count >= UINT32_MAX)
		return 0;
	tpa_grow(&trace->frames, &times->frame_room, trace->frame_count + 1, sizeof(*trace->frames));
	tpa_pairs_set(&times->frames, frame, code, number);
	trace->frames[trace->frame_count++] = trace->frames[frame];
	trace->frames[number].jit = code;
	return number;
}

/* The node of a frame below `parent`; made if need be, for the file's node at that time. 0: no number is left. */
static uint32_t child_of(struct tpa_trace *trace, uint32_t parent, uint32_t frame, struct tpa_node_at at)
{
	struct tpa_jit_times *times = tpa_impl(trace)->jit_times;
	size_t made = trace->node_count - times->node_count;
	uint32_t child = tpa_nodes_child(trace, &times->node_room, &times->children, parent, frame);

	if (trace->node_count - times->node_count > made) {
		tpa_grow(&times->made, &times->made_room, made + 1, sizeof(*times->made));
		times->made[made] = at;
	}
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

		if (times->reused[frame]) {
			uint64_t address = tpa_frame_address(&trace->frames[frame]);
			struct tpa_jit_span span = tpa_jitdump_at(trace->jit, address, time);

			version.from = span.from > version.from ? span.from : version.from;
			version.until = span.until < version.until ? span.until : version.until;
			frame = frame_in(trace, frame, number_of(trace->jit, span.code));
		}
		mixed = frame ? child_of(trace, mixed, frame, (struct tpa_node_at){ times->stack[count], time }) : 0;
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

	number = times && node < times->node_count ? times->of_node[node] : 0;
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

	return times && node >= times->node_count ? times->made[node - times->node_count]
						  : (struct tpa_node_at){ .node = node };
}

static void free_times(struct tpa_jit_times *times)
{
	if (!times)
		return;
	for (size_t i = 0; i < times->count; i++)
		free(times->nodes[i].list);
	free(times->nodes);
	free(times->of_node);
	free(times->reused);
	free(times->made);
	free(times->stack);
	tpa_pairs_free(&times->frames);
	tpa_pairs_free(&times->children);
	free(times);
}

/* ---- all of it ---- */

/* Nothing to do while no address was reused. */
static void prepare(struct tpa_trace *trace)
{
	struct tpa_jit_times *times = tpa_zalloc(1, sizeof(*times));
	bool any = false;

	times->frame_room = trace->frame_count;
	times->node_count = times->node_room = trace->node_count;
	times->reused = tpa_zalloc(trace->frame_count, sizeof(*times->reused));
	name_frames(trace, times->reused, &any);
	if (any) {
		mark_nodes(trace, times);
		tpa_impl(trace)->jit_times = times;
	} else {
		free_times(times);
	}
}

void tpa_jit_load(struct tpa_trace *trace, const char *folder)
{
	struct tpa_jitdump *dump;
	struct tpa_trace_impl *impl = tpa_impl(trace);

	impl->jit_asked = true;
	impl->jit_folder = folder ? tpa_strdup(folder) : NULL;
	if (!has_jit(trace))
		return;
	trace->jit = dump = tpa_zalloc(1, sizeof(*dump));
	if (!read_dump(dump, trace, folder))
		return;
	tpa_jitdump_sort(dump);
	prepare(trace);
}

void tpa_jit_free(struct tpa_trace *trace)
{
	free_times(tpa_impl(trace)->jit_times);
	if (trace->jit)
		tpa_jitdump_free((struct tpa_jitdump *)(uintptr_t)trace->jit);
	free((void *)(uintptr_t)trace->jit);
}
