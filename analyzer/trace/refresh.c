/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a file has gained since it was read. Opening it is the same, from nothing. */
#include <stdlib.h>

#include "trace/impl.h"
#include "trace/jit.h"
#include "trace/lost_records.h"

/* What is found anew each time. */
struct before {
	struct tprof_header header;
	uint64_t file_bytes;
	struct tpa_chunks events;
	struct tpa_damage *damage;
	size_t damage_count, damage_room;
};

static struct before take_off(struct tpa_trace_impl *impl)
{
	struct tpa_trace *trace = &impl->trace;
	struct before before = { impl->header,	trace->file_bytes,   impl->events,
				 trace->damage, trace->damage_count, impl->damage_room };

	trace->damage = NULL;
	trace->damage_count = impl->damage_room = 0;
	return before;
}

static void put_back(struct tpa_trace_impl *impl, const struct before *before)
{
	free(impl->trace.damage);
	impl->header = before->header;
	impl->trace.file_bytes = before->file_bytes;
	impl->trace.damage = before->damage;
	impl->trace.damage_count = before->damage_count;
	impl->damage_room = before->damage_room;
}

static void read_anew(struct tpa_trace_impl *impl)
{
	impl->trace.running = impl->trace.written = false;
	impl->now = (struct tprof_moment){ 0 };
	impl->events = (struct tpa_chunks){ NULL };
	impl->tables.count = impl->states.count = 0;
	tpa_alive_find(impl);
	/* Again: all chunks that had begun by `now` are to be found, whatever the file has grown by since it was opened. */
	if (impl->trace.written)
		impl->trace.file_bytes = tpa_trace_size(impl);
	tpa_chunks_scan(impl);
	tpa_tables_read(impl);
	tpa_clock_fit(impl);
	if (impl->whole)
		tpa_missing_cut(impl);
}

bool tpa_trace_update(struct tpa_trace_impl *impl, char **error)
{
	struct before before = take_off(impl);
	size_t opening_damage = impl->opening_damage;

	if (!tpa_file_open(impl, error) || !tpa_header_read(impl, error)) {
		put_back(impl, &before);
		return false;
	}
	tpa_readers_save(impl);
	read_anew(impl);
	if (before.events.count || before.events.gone.count)
		tpa_chunks_keep(impl, &before.events);
	tpa_jit_refresh(&impl->trace);
	impl->opening_damage = impl->trace.damage_count;
	for (size_t i = opening_damage; i < before.damage_count; i++)
		tpa_damage_add(&impl->trace, before.damage[i].offset, before.damage[i].lost_bytes,
			       before.damage[i].reason);
	free(before.events.list);
	free(before.damage);
	tpa_readers_resume(impl);
	return true;
}

bool tpa_trace_refresh(struct tpa_trace *trace, char **error)
{
	*error = NULL;
	if (!tpa_trace_update(tpa_impl(trace), error))
		return false;
	tpa_trace_split_regions(trace);
	return true;
}
