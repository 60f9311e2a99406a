/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"

#define SEQUENCE 1u
enum { INCREMENTAL_STATE_CLEARED = 1, NEEDS_INCREMENTAL_STATE = 2 }; /* sequence_flags */

void tpa_perfetto_begin(struct tpa_perfetto *perfetto, FILE *out, uint64_t base_ns)
{
	*perfetto = (struct tpa_perfetto){ .out = out, .base_ns = base_ns, .arena = tpa_arena_new() };
	tpa_frames_init(&perfetto->frames);
}

void tpa_perfetto_end(struct tpa_perfetto *perfetto)
{
	tpa_arena_free(perfetto->arena);
	tpa_pairs_free(&perfetto->texts);
	tpa_pairs_free(&perfetto->mappings);
	tpa_frames_free(&perfetto->frames);
	tpa_stack_tree_free(&perfetto->stacks);
	free(perfetto->written);
	free(perfetto->path);
	free(perfetto->packer.bytes);
}

void tpa_perfetto_write(struct tpa_perfetto *perfetto, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	size_t size;

	TPA_SET(*packet, trusted_packet_sequence_id, SEQUENCE);
	TPA_SET(*packet, sequence_flags, perfetto->packets++ ? NEEDS_INCREMENTAL_STATE : INCREMENTAL_STATE_CLEARED);
	if (packet->has_timestamp)
		packet->timestamp += perfetto->base_ns;
	trace.n_packet = 1;
	trace.packet = &packet;
	size = tpa_pack(&perfetto->packer, &trace.base);
	fwrite(perfetto->packer.bytes, 1, size, perfetto->out);
}

static void write_entry(struct tpa_perfetto *perfetto, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	tpa_perfetto_write(perfetto, &packet);
}

static void write_text(struct tpa_perfetto *perfetto, enum tpa_perfetto_table table, uint64_t number, char *text)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName name = PERFETTO__EVENT_NAME__INIT, *names = &name;
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT, *strings = &string;
	struct {
		size_t *count;
		Perfetto__InternedString ***list;
	} of[TPA_PERFETTO_TABLES] = {
		[TPA_PERFETTO_FUNCTIONS] = { &data.n_function_names, &data.function_names },
		[TPA_PERFETTO_BUILD_IDS] = { &data.n_build_ids, &data.build_ids },
		[TPA_PERFETTO_PATHS] = { &data.n_mapping_paths, &data.mapping_paths },
		[TPA_PERFETTO_SOURCES] = { &data.n_source_paths, &data.source_paths },
	};

	TPA_SET(name, iid, number);
	name.name = text;
	TPA_SET(string, iid, number);
	TPA_SET(string, str, ((ProtobufCBinaryData){ strlen(text), (uint8_t *)text }));
	if (table == TPA_PERFETTO_NAMES) {
		data.n_event_names = 1;
		data.event_names = &names;
	} else if (table == TPA_PERFETTO_CATEGORIES) {
		data.n_event_categories = 1;
		data.event_categories = &names;
	} else {
		*of[table].count = 1;
		*of[table].list = &strings;
	}
	write_entry(perfetto, &data);
}

uint64_t tpa_perfetto_text(struct tpa_perfetto *perfetto, enum tpa_perfetto_table table, const char *text)
{
	const char *key = tpa_arena_intern(perfetto->arena, text);
	uint32_t *number;
	char *shown;
	bool found;

	number = tpa_pairs_at(&perfetto->texts, (uintptr_t)key, table, &found);
	if (found)
		return *number;
	*number = ++perfetto->counts[table];
	shown = tpa_export_text(text, strlen(text));
	write_text(perfetto, table, perfetto->counts[table], shown);
	free(shown);
	return perfetto->counts[table];
}

/* ---- stacks ---- */

static uint64_t build_id(struct tpa_perfetto *perfetto, const struct tpa_module *module)
{
	char text[2 * UINT8_MAX + 1] = "";

	for (unsigned i = 0; module->build_id && i < module->build_id_length; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", module->build_id[i]);
	return *text ? tpa_perfetto_text(perfetto, TPA_PERFETTO_BUILD_IDS, text) : 0;
}

/* The module of a frame; a source file of Python is one, too. */
static uint64_t mapping_of(struct tpa_perfetto *perfetto, const struct tpa_frame_text *frame)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT, *list = &mapping;
	const struct tpa_module *module = frame->loaded;
	const char *path = module ? module->path : frame->file ? frame->file : "[unknown]";
	uint64_t path_id;
	uint32_t *number;
	bool found;

	number = tpa_pairs_at(&perfetto->mappings, module ? (uintptr_t)module : 0, module ? 0 : (uintptr_t)frame->file,
			      &found);
	if (found)
		return *number;
	*number = ++perfetto->mapping_count;
	TPA_SET(mapping, iid, *number);
	path_id = tpa_perfetto_text(perfetto, TPA_PERFETTO_PATHS, path);
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &path_id;
	if (module) {
		TPA_SET(mapping, build_id, build_id(perfetto, module));
		TPA_SET(mapping, start, module->start);
		TPA_SET(mapping, end, module->end);
	}
	data.n_mappings = 1;
	data.mappings = &list;
	write_entry(perfetto, &data);
	return mapping.iid;
}

static void write_frame(struct tpa_perfetto *perfetto, size_t number)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *list = &frame;
	const struct tpa_frame_text text = perfetto->frames.list[number];

	TPA_SET(frame, iid, number + 1);
	TPA_SET(frame, function_name_id, tpa_perfetto_text(perfetto, TPA_PERFETTO_FUNCTIONS, text.name));
	TPA_SET(frame, mapping_id, mapping_of(perfetto, &text));
	TPA_SET(frame, rel_pc, text.loaded ? text.address : (uint64_t)text.line);
	if (text.file)
		TPA_SET(frame, source_path_iid, tpa_perfetto_text(perfetto, TPA_PERFETTO_SOURCES, text.file));
	if (text.line > 0)
		TPA_SET(frame, line_number, (uint32_t)text.line);
	data.n_frames = 1;
	data.frames = &list;
	write_entry(perfetto, &data);
}

static void write_stack(struct tpa_perfetto *perfetto, uint32_t node)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack stack = PERFETTO__CALLSTACK__INIT, *list = &stack;
	size_t depth = 0;

	while (perfetto->frames_written < perfetto->frames.count)
		write_frame(perfetto, perfetto->frames_written++);
	for (uint32_t i = node; i; i = perfetto->stacks.nodes[i].parent)
		*TPA_APPEND(perfetto->path, depth, perfetto->path_room) = perfetto->stacks.nodes[i].frame + UINT64_C(1);
	for (size_t i = 0; i < depth / 2; i++) { /* outermost first */
		uint64_t inner = perfetto->path[i];

		perfetto->path[i] = perfetto->path[depth - 1 - i];
		perfetto->path[depth - 1 - i] = inner;
	}
	TPA_SET(stack, iid, node + UINT64_C(1));
	stack.n_frame_ids = depth;
	stack.frame_ids = perfetto->path;
	data.n_callstacks = 1;
	data.callstacks = &list;
	write_entry(perfetto, &data);
}

uint64_t tpa_perfetto_node(struct tpa_perfetto *perfetto, uint32_t node)
{
	tpa_extend(&perfetto->written, &perfetto->written_count, &perfetto->written_room, perfetto->stacks.count, 1);
	if (!perfetto->written[node]) {
		perfetto->written[node] = 1;
		write_stack(perfetto, node);
	}
	return node + UINT64_C(1);
}

uint64_t tpa_perfetto_stack(struct tpa_perfetto *perfetto, size_t which, const struct tpa_stack *stack, size_t first)
{
	return tpa_perfetto_node(perfetto,
				 tpa_stack_tree_add(&perfetto->stacks, &perfetto->frames, which, stack, first));
}
