/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the tables once they are read: sorts modules, gives frames run-time addresses, unifies frames and nodes. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "trace/lost_records.h"
#include "trace/records.h"

static struct tpa_module *find_module(const struct tpa_trace *trace, uint64_t id)
{
	size_t low = 0, high = trace->module_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->modules[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < trace->module_count && trace->modules[low].id == id ? &trace->modules[low] : NULL;
}

static int by_id(const void *a, const void *b)
{
	const struct tpa_module *x = a, *y = b;

	return TPA_UP(x->id, y->id) ?: TPA_UP(x->loaded_ticks, y->loaded_ticks);
}

/* Sorts the modules by ID and notes when each was unloaded. */
static void sort_modules(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t kept = 0, i;

	if (trace->module_count)
		qsort(trace->modules, trace->module_count, sizeof(*trace->modules), by_id);
	for (i = 0; i < trace->module_count; i++) {
		if (kept && trace->modules[kept - 1].id == trace->modules[i].id) {
			tpa_damage_add(trace, tables->impl->header_size, 0, TPA_NUMBER_TWICE);
			free((void *)(uintptr_t)trace->modules[i].path);
		} else {
			trace->modules[kept++] = trace->modules[i];
		}
	}
	trace->module_count = kept;
	for (i = 0; i < tables->unload_count; i++) {
		struct tpa_module *module = find_module(trace, tables->unloads[i].module);

		if (module)
			module->unloaded_ticks = tables->unloads[i].ticks;
		else if (!tables->impl->header.tables_from)
			tpa_damage_add(trace, tables->impl->header_size, 0, "an unloaded module is not in the file");
	}
}

/* Makes frames run-time addresses, now that all modules are known. */
static void resolve_frames(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t i, known = trace->frame_count;

	for (i = 1; i < known; i++) {
		uint32_t number = tables->frame_module[i];

		if (!number)
			continue;
		trace->frames[i].module = find_module(trace, number);
		if (trace->frames[i].module)
			trace->frames[i].pc += trace->frames[i].module->start;
		else if (tables->impl->header.tables_from)
			trace->frames[i] = (struct tpa_frame){ 0 }; /* treated as if its own record were missing */
		else
			tpa_damage_add(trace, tables->impl->header_size, 0, "a frame's module is not in the file");
	}
	tpa_extend(&trace->frames, &trace->frame_count, &tables->frame_room, tables->frame_top, sizeof(*trace->frames));
}

struct frame_rank {
	struct tpa_frame frame;
	uint32_t number;
};

static int by_place(const void *a, const void *b)
{
	const struct frame_rank *x = a, *y = b;

	return TPA_UP(x->frame.pc, y->frame.pc) ?: TPA_UP(x->frame.module, y->frame.module) ?:
	       TPA_UP(x->frame.flags, y->frame.flags) ?: TPA_UP(x->frame.code, y->frame.code) ?:
	       TPA_UP(x->frame.line, y->frame.line) ?: TPA_UP(x->number, y->number);
}

/* A frame whose record is missing equals no other. */
static bool same_frame(const struct tpa_frame *a, const struct tpa_frame *b)
{
	return (a->pc || a->code) && a->pc == b->pc && a->module == b->module && a->flags == b->flags &&
	       a->code == b->code && a->line == b->line;
}

/* For each frame number the lowest that means the same: two threads may have met a frame at once. */
static uint32_t *alias_frames(const struct tpa_trace *trace)
{
	size_t count = trace->frame_count, i;
	uint32_t *alias = tpa_zalloc(count, sizeof(*alias));
	struct frame_rank *ranks = tpa_zalloc(count, sizeof(*ranks));

	for (i = 0; i < count; i++)
		ranks[i] = (struct frame_rank){ trace->frames[i], (uint32_t)i };
	qsort(ranks, count, sizeof(*ranks), by_place);
	for (i = 0; i < count; i++) {
		bool same = i && same_frame(&ranks[i].frame, &ranks[i - 1].frame);

		alias[ranks[i].number] = same ? alias[ranks[i - 1].number] : ranks[i].number;
	}
	free(ranks);
	return alias;
}

void tpa_tables_resolve(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	uint32_t *alias;

	tpa_missing_from(tables->impl);
	sort_modules(tables);
	resolve_frames(tables);
	if (tables->impl->header.tables_from)
		tpa_missing_nodes(tables->impl, tables->joins, tables->join_count);
	alias = alias_frames(trace);
	tpa_nodes_unify(trace, alias);
	tpa_nodes_join(trace, &tables->node_room, tables->joins, tables->join_count);
	free(alias);
}
