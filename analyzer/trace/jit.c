/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/impl.h"
#include "trace/jitdump.h"
#include "base/memory.h"
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
	uint32_t *of_node; /* for each node of the file: its place in nodes[], + 1; 0: it is the same at all times */
	size_t node_count;
	struct versions *nodes;
	size_t count;
};

struct splitter {
	struct tpa_trace *trace;
	const struct tpa_jitdump *dump;
	struct tpa_jit_times *times;
	bool *reused;		   /* frames at whose address several codes stood */
	size_t frame_count;	   /* of the file */
	struct tpa_pairs frames;   /* (frame, code) -> the frame in that code */
	struct tpa_pairs children; /* (parent, frame) -> a new node */
	size_t frame_room, node_room;
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
static void name_frames(struct splitter *splitter, bool *any)
{
	for (size_t i = 0; i < splitter->frame_count; i++) {
		struct tpa_frame *frame = &splitter->trace->frames[i];
		struct tpa_jit_span span;

		if (!is_jit(frame))
			continue;
		span = tpa_jitdump_at(splitter->dump, tpa_frame_address(frame), UINT64_MAX);
		frame->jit = number_of(splitter->dump, span.code);
		splitter->reused[i] = span.code && span.from;
		*any |= splitter->reused[i];
	}
}

/* Marks the nodes with a reused frame at or above them. */
static void mark_nodes(struct splitter *splitter)
{
	const struct tpa_trace *trace = splitter->trace;
	struct tpa_jit_times *times = splitter->times;
	size_t count = 0;

	times->node_count = trace->node_count;
	times->of_node = tpa_zalloc(trace->node_count, sizeof(*times->of_node));
	for (size_t i = TPROF_NODE_FIRST; i < trace->node_count; i++) {
		const struct tpa_node *node = &trace->nodes[i];

		if (node->frame && (splitter->reused[node->frame] || times->of_node[node->parent]))
			times->of_node[i] = (uint32_t)++count;
	}
	times->count = count;
	times->nodes = tpa_zalloc(count, sizeof(*times->nodes));
}

/* The frame in that code; made if need be. 0: no number is left. */
static uint32_t frame_in(struct splitter *splitter, uint32_t frame, uint32_t code)
{
	struct tpa_trace *trace = splitter->trace;
	uint32_t number = tpa_pairs_find(&splitter->frames, frame, code);

	if (number)
		return number;
	number = (uint32_t)trace->frame_count;
	if (trace->frame_count >= UINT32_MAX)
		return 0;
	tpa_grow(&trace->frames, &splitter->frame_room, trace->frame_count + 1, sizeof(*trace->frames));
	tpa_pairs_set(&splitter->frames, frame, code, number);
	trace->frames[trace->frame_count++] = trace->frames[frame];
	trace->frames[number].jit = code;
	return number;
}

/* Fills stack[] with the frames of `node` outwards, up to the first node that is the same at all times, which it returns. */
static uint32_t take_stack(struct splitter *splitter, uint32_t node, size_t *count)
{
	*count = 0;
	for (; node >= TPROF_NODE_FIRST && splitter->times->of_node[node]; node = splitter->trace->nodes[node].parent) {
		tpa_grow(&splitter->stack, &splitter->stack_room, *count + 1, sizeof(*splitter->stack));
		splitter->stack[(*count)++] = splitter->trace->nodes[node].frame;
	}
	return node;
}

/* The stack as it was at a time. node 0: no number is left. */
static struct version version_at(struct splitter *splitter, uint32_t node, uint64_t time)
{
	struct version version = { 0, UINT64_MAX, 0 };
	size_t count;
	uint32_t mixed = take_stack(splitter, node, &count);

	while (count-- > 0) {
		uint32_t frame = splitter->stack[count];

		if (splitter->reused[frame]) {
			uint64_t address = tpa_frame_address(&splitter->trace->frames[frame]);
			struct tpa_jit_span span = tpa_jitdump_at(splitter->dump, address, time);

			version.from = span.from > version.from ? span.from : version.from;
			version.until = span.until < version.until ? span.until : version.until;
			frame = frame_in(splitter, frame, number_of(splitter->dump, span.code));
		}
		mixed = frame ? tpa_nodes_child(splitter->trace, &splitter->node_room, &splitter->children, mixed,
						frame)
			      : 0;
		if (!mixed)
			return version;
	}
	version.node = mixed;
	return version;
}

/* The index of the first version that ends after `time`. */
static size_t place_of(const struct versions *versions, uint64_t time)
{
	size_t low = 0, high = versions->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (versions->list[middle].until > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
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

static struct versions *versions_of(const struct tpa_jit_times *times, uint32_t node)
{
	uint32_t number = node < times->node_count ? times->of_node[node] : 0;

	return number ? &times->nodes[number - 1] : NULL;
}

/* ---- events ---- */

static void see_event(struct splitter *splitter, const struct tpa_event *event)
{
	uint32_t node = tpa_trace_node(splitter->trace, event->node);
	struct versions *versions = versions_of(splitter->times, node);
	struct version version;

	if (!versions || find_version(versions, event->time))
		return;
	version = version_at(splitter, node, event->time);
	if (version.node)
		add_version(versions, &version);
}

/* Finds which stacks there were at which times. */
static void see_events(struct splitter *splitter)
{
	struct tpa_events *events = tpa_events_open(splitter->trace);
	const struct tpa_event *event;

	while ((event = tpa_events_next(events)))
		if (tpa_event_has_node(event->kind))
			see_event(splitter, event);
	tpa_events_close(events);
}

void tpa_jit_time(const struct tpa_jit_times *times, const struct tpa_trace *trace, struct tpa_event *events,
		  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct versions *versions;
		const struct version *version;

		if (!tpa_event_has_node(events[i].kind))
			continue;
		versions = versions_of(times, tpa_trace_node(trace, events[i].node));
		version = versions ? find_version(versions, events[i].time) : NULL;
		if (version)
			events[i].node = version->node;
	}
}

static void free_times(struct tpa_jit_times *times)
{
	if (!times)
		return;
	for (size_t i = 0; i < times->count; i++)
		free(times->nodes[i].list);
	free(times->nodes);
	free(times->of_node);
	free(times);
}

/* ---- all of it ---- */

static void split(struct tpa_trace *trace, const struct tpa_jitdump *dump)
{
	struct splitter splitter = { .trace = trace, .dump = dump, .frame_count = trace->frame_count };
	bool any = false;

	splitter.frame_room = trace->frame_count;
	splitter.node_room = trace->node_count;
	splitter.reused = tpa_zalloc(trace->frame_count, sizeof(*splitter.reused));
	name_frames(&splitter, &any);
	if (any) {
		splitter.times = tpa_zalloc(1, sizeof(*splitter.times));
		mark_nodes(&splitter);
		see_events(&splitter);
	}
	free(splitter.reused);
	free(splitter.stack);
	tpa_pairs_free(&splitter.frames);
	tpa_pairs_free(&splitter.children);
	tpa_impl(trace)->jit_times = splitter.times;
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
	split(trace, dump);
}

void tpa_jit_free(struct tpa_trace *trace)
{
	free_times(tpa_impl(trace)->jit_times);
	if (trace->jit)
		tpa_jitdump_free((struct tpa_jitdump *)(uintptr_t)trace->jit);
	free((void *)(uintptr_t)trace->jit);
}
