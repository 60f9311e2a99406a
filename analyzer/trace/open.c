/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes traces. trace.h declares the functions. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/read_at.h"
#include "trace/bundle.h"
#include "trace/jit.h"
#include "trace/impl.h"
#include "trace/lost_records.h"
#include "trace/ring.h"
#include "trace/ring_copy.h"

size_t tpa_trace_bytes_at(const struct tpa_trace_impl *impl, void *buffer, size_t size, uint64_t offset)
{
	return impl->compact ? tpa_compact_read(impl->compact, buffer, size, offset)
			     : tpa_read_at(impl->fd, buffer, size, offset);
}

uint64_t tpa_trace_size(const struct tpa_trace_impl *impl)
{
	struct stat status;

	if (impl->compact)
		return tpa_compact_bytes(impl->compact);
	return fstat(impl->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static bool open_compact(struct tpa_trace_impl *impl, const struct tpa_part *part, char **error)
{
	const char *reason;
	size_t length;

	impl->trace.compact_bytes = impl->trace.file_bytes;
	impl->compact = tpa_compact_open(part, &reason);
	if (!impl->compact) {
		*error = tpa_format("%s: compact trace: %s", impl->trace.file, reason);
		return false;
	}
	impl->trace.file_bytes = tpa_compact_bytes(impl->compact);
	if (!tpa_compact_names(impl->compact, &length) && length)
		tpa_damage_add(&impl->trace, impl->trace.file_bytes, length,
			       "the names in a compact trace are damaged");
	return true;
}

/* A ring that is being written is read from a copy, because its chunks are used again. */
static void choose_copy(struct tpa_trace_impl *impl)
{
	struct tprof_header header;
	int copy = -1;

	if (impl->fd != impl->file)
		close(impl->fd);
	impl->fd = impl->file;
	if (!impl->in_place && tpa_read_at(impl->file, &header, sizeof(header), 0) == sizeof(header) &&
	    memcmp(header.magic, TPROF_MAGIC, sizeof(header.magic)) == 0 && header.ring_bytes &&
	    (tpa_alive_writes(impl->file, &header) || tpa_ring_has_folder(impl->file)))
		copy = tpa_ring_copy(impl->file);
	if (copy < 0)
		return;
	impl->fd = copy;
	impl->trace.file_bytes = (uint64_t)lseek(copy, 0, SEEK_END);
}

bool tpa_file_open(struct tpa_trace_impl *impl, char **error)
{
	struct tpa_part part;
	struct stat status;

	if (impl->compact) /* which does not grow */
		return true;
	/* O_NONBLOCK: the name could be that of a pipe. */
	if (impl->file < 0)
		impl->file = impl->fd = tpa_bundle_open(impl->trace.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, &part);
	else
		part = tpa_part_whole(impl->file);
	if (impl->file < 0 || fstat(impl->file, &status) < 0) {
		*error = tpa_format("%s: can't be opened: %s", impl->trace.file, strerror(errno));
		return false;
	}
	if (!S_ISREG(status.st_mode)) {
		*error = tpa_format(S_ISDIR(status.st_mode) ? "%s: is a directory, and there is no trace in it or below"
							    : "%s: is not a regular file",
				    impl->trace.file);
		return false;
	}
	impl->trace.file_bytes = part.bytes;
	if (tpa_compact_is(&part))
		return open_compact(impl, &part, error);
	if (tpa_bundle_member(&part)) {
		*error = tpa_format("%s: no compact trace", impl->trace.file);
		return false;
	}
	choose_copy(impl);
	return true;
}

static struct tpa_trace *open_trace(const char *file, bool in_place, char **error)
{
	struct tpa_trace_impl *impl = tpa_zalloc(1, sizeof(*impl));

	*error = NULL;
	impl->fd = impl->file = -1;
	impl->in_place = in_place;
	impl->trace.impl = impl;
	impl->trace.header = &impl->header;
	impl->trace.file = tpa_strdup(file);
	tpa_made_begin(impl);
	if (tpa_trace_update(impl, error))
		return &impl->trace;
	tpa_trace_close(&impl->trace);
	return NULL;
}

struct tpa_trace *tpa_trace_open(const char *file, char **error)
{
	return open_trace(file, false, error);
}

struct tpa_trace *tpa_trace_open_in_place(const char *file, char **error)
{
	return open_trace(file, true, error);
}

static void free_facts(struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->hooks_count; i++)
		free(trace->hooks[i].object);
	free(trace->hooks);
	free(trace->reach);
	tpa_facts_holders_free(trace);
	tpa_facts_groups_free(trace);
	for (size_t i = 0; i < trace->value_count; i++)
		free(trace->values[i].name);
	for (size_t i = 0; i < trace->counter_count; i++)
		free(trace->counters[i].name);
	free(trace->values);
	free(trace->counters);
	for (size_t i = 0; i < trace->jitdump_count; i++)
		free(trace->jitdumps[i]);
	free(trace->jitdumps);
	for (size_t i = 0; i < trace->file_count; i++)
		free(trace->files[i]);
	free(trace->files);
}

void tpa_trace_close(struct tpa_trace *trace)
{
	struct tpa_trace_impl *impl;
	size_t i;

	if (!trace)
		return;
	impl = tpa_impl(trace);
	tpa_compact_close(impl->compact);
	if (impl->fd != impl->file)
		close(impl->fd);
	if (impl->file >= 0)
		close(impl->file);
	for (i = 0; i < trace->module_count; i++)
		free((void *)(uintptr_t)trace->modules[i].path);
	free(trace->unseen);
	free(trace->modules);
	for (i = 0; i < trace->op_count; i++) {
		free((void *)(uintptr_t)trace->ops[i].name);
		free((void *)(uintptr_t)trace->ops[i].shape);
		free((void *)(uintptr_t)trace->ops[i].tensors);
	}
	free(trace->ops);
	for (i = 0; i < trace->code_count; i++)
		free((void *)(uintptr_t)trace->codes[i].name);
	free(trace->codes);
	free(trace->frames);
	free(trace->nodes);
	free_facts(trace);
	tpa_jit_free(trace);
	tpa_tables_free(impl->records);
	tpa_made_free(&impl->made);
	free(trace->damage);
	for (i = 0; i < impl->reason_count; i++)
		free(impl->reasons[i]);
	free(impl->reasons);
	free(impl->jit_folder);
	free(impl->events.list);
	free(impl->tables.list);
	free(impl->states.list);
	free(impl->whole);
	free(impl->text);
	free(impl->lists);
	free((void *)(uintptr_t)trace->file);
	free(impl);
}

const struct tpa_chunks *tpa_trace_chunks(const struct tpa_trace *trace)
{
	return &tpa_impl(trace)->events;
}

uint64_t tpa_trace_thread_limit(const struct tpa_trace *trace)
{
	return tpa_impl(trace)->thread_limit;
}
