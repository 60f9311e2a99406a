/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up what records refer to, once those that are there are read: modules of frames and of unloads, frames of ops. */
#include <stdlib.h>

#include "base/order.h"
#include "trace/lost_records.h"
#include "trace/records.h"

const struct tpa_module *tpa_module_find(const struct tpa_trace *trace, uint64_t id)
{
	size_t low = 0, high = trace->module_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->modules[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return id && low < trace->module_count && trace->modules[low].id == id ? &trace->modules[low] : NULL;
}

static int by_id(const void *a, const void *b)
{
	const struct tpa_module *x = a, *y = b;

	return TPA_UP(x->id, y->id) ?: TPA_UP(x->loaded_ticks, y->loaded_ticks);
}

/* Merges the new modules into those that were there, which are in order of ID. */
static void merge_modules(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t count = 0, all = trace->module_count + tables->module_count;
	struct tpa_module *old = trace->modules, *old_end = old ? old + trace->module_count : NULL,
			  *new = tables->modules, *end = new + tables->module_count,
			  *merged = tpa_zalloc(all, sizeof(*merged));

	qsort(new, tables->module_count, sizeof(*new), by_id);
	while (old < old_end || new < end) {
		const struct tpa_module *next = new == end || (old < old_end && old->id <= new->id) ? old++ : new ++;

		if (!count || merged[count - 1].id != next->id)
			merged[count++] = *next;
		else
			free((void *)(uintptr_t)next->path);
	}
	old = trace->modules;
	trace->modules = merged;
	trace->module_count = count;
	tables->module_count = 0;
	for (size_t i = 0; i < trace->frame_count; i++)
		if (trace->frames[i].module)
			trace->frames[i].module = tpa_module_find(trace, trace->frames[i].module->id);
	free(old);
}

static void sort_modules(struct tpa_tables *tables)
{
	size_t all = tables->impl->trace.module_count + tables->module_count;

	if (tables->module_count)
		merge_modules(tables);
	if (all > tables->impl->trace.module_count) {
		tables->start = tables->at = NULL;
		tables->offset = tables->impl->header_size;
		tpa_tables_damage(tables, NULL, 0, TPA_NUMBER_TWICE);
	}
}

/* Of what waits for a record. With a full disk it is missing, which reports say elsewhere. */
static void tell_missing(struct tpa_tables *tables, const char *reason)
{
	struct tpa_trace_impl *impl = tables->impl;

	if (!impl->header.tables_from)
		tpa_damage_add(&impl->trace, impl->header_size, 0, reason);
}

/* Notes when modules were unloaded. */
static void resolve_unloads(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t waiting = 0;

	for (size_t i = 0; i < tables->unload_count; i++) {
		const struct tpa_module *module = tpa_module_find(trace, tables->unloads[i].module);

		if (module)
			trace->modules[module - trace->modules].unloaded_ticks = tables->unloads[i].ticks;
		else
			tables->unloads[waiting++] = tables->unloads[i];
	}
	tables->unload_count = waiting;
	if (waiting)
		tell_missing(tables, "an unloaded module is not in the file");
}

static void resolve_frames(struct tpa_tables *tables)
{
	size_t waiting = 0;

	for (size_t i = 0; i < tables->frame_wait_count; i++)
		if (!tpa_module_find(&tables->impl->trace, tables->frames[tables->frame_waits[i].frame].module))
			tables->frame_waits[waiting++] = tables->frame_waits[i];
	tables->frame_wait_count = waiting;
	if (waiting)
		tell_missing(tables, "a frame's module is not in the file");
}

static void resolve_ops(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t waiting = 0;

	for (size_t i = 0; i < tables->op_wait_count; i++) {
		struct tpa_wait wait = tables->op_waits[i];

		trace->ops[wait.number].frame = tpa_frame_made(tables->impl, wait.frame);
		if (!tpa_frame_record(tables, wait.frame))
			tables->op_waits[waiting++] = wait;
	}
	tables->op_wait_count = waiting;
}

/* The results of searches name nodes by the file's numbers. */
static void resolve_searches(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;

	for (; tables->known_reach < trace->reach_count; tables->known_reach++)
		trace->reach[tables->known_reach].node = tpa_trace_node(trace, trace->reach[tables->known_reach].node);
	for (; tables->known_links < trace->link_count; tables->known_links++)
		trace->links[tables->known_links].node = tpa_trace_node(trace, trace->links[tables->known_links].node);
	for (; tables->known_held < trace->held_count; tables->known_held++)
		trace->held[tables->known_held].node = tpa_trace_node(trace, trace->held[tables->known_held].node);
}

void tpa_tables_resolve(struct tpa_tables *tables)
{
	tpa_missing_from(tables->impl);
	sort_modules(tables);
	resolve_unloads(tables);
	resolve_frames(tables);
	resolve_ops(tables);
	resolve_searches(tables);
	if (tables->impl->header.tables_from)
		tpa_missing_nodes(tables->impl);
}
