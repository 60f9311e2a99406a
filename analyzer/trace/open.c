/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes traces, and walks stacks. trace.h declares the functions. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/jit.h"
#include "trace/impl.h"
#include "trace/lost_records.h"

size_t tpa_read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (got > 0)
			done += (size_t)got;
		else if (got == 0 || errno != EINTR)
			break;
	}
	return done;
}

static bool open_file(struct tpa_trace_impl *impl, char **error)
{
	struct stat status;

	/* O_NONBLOCK: the name could be that of a pipe. */
	if (impl->fd < 0)
		impl->fd = open(impl->trace.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (impl->fd < 0 || fstat(impl->fd, &status) < 0) {
		*error = tpa_format("%s: can't be opened: %s", impl->trace.file, strerror(errno));
		return false;
	}
	if (!S_ISREG(status.st_mode)) {
		*error = tpa_format(S_ISDIR(status.st_mode) ? "%s: is a directory: name the traces in it"
							    : "%s: is not a regular file",
				    impl->trace.file);
		return false;
	}
	impl->trace.file_bytes = (uint64_t)status.st_size;
	return true;
}

static bool read_all(struct tpa_trace_impl *impl, char **error)
{
	if (!open_file(impl, error) || !tpa_header_read(impl, error))
		return false;
	tpa_alive_find(impl);
	tpa_chunks_scan(impl);
	tpa_tables_read(impl);
	tpa_clock_fit(impl);
	if (impl->whole)
		tpa_missing_cut(impl);
	impl->opening_damage = impl->trace.damage_count;
	return true;
}

struct tpa_trace *tpa_trace_read(const char *file, int fd, char **error)
{
	struct tpa_trace_impl *impl = tpa_zalloc(1, sizeof(*impl));

	*error = NULL;
	impl->fd = fd;
	impl->trace.impl = impl;
	impl->trace.header = &impl->header;
	impl->trace.file = tpa_strdup(file);
	if (read_all(impl, error))
		return &impl->trace;
	tpa_trace_close(&impl->trace);
	return NULL;
}

struct tpa_trace *tpa_trace_open(const char *file, char **error)
{
	return tpa_trace_read(file, -1, error);
}

static void free_facts(struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->hooks_count; i++)
		free(trace->hooks[i].object);
	free(trace->hooks);
	free(trace->reach);
	tpa_facts_holders_free(trace);
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
	if (impl->fd >= 0)
		close(impl->fd);
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
	free(trace->damage);
	for (i = 0; i < impl->reason_count; i++)
		free(impl->reasons[i]);
	free(impl->reasons);
	free(impl->jit_folder);
	free(impl->events.list);
	free(impl->tables.list);
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

uint32_t tpa_trace_node(const struct tpa_trace *trace, uint32_t node)
{
	if (node < TPROF_NODE_FIRST)
		return node <= TPROF_NODE_SHORT ? node : TPROF_NODE_NONE;
	if (node >= trace->node_count)
		return TPROF_NODE_NONE;
	return trace->nodes[node].frame ? node : trace->nodes[node].parent;
}

uint32_t *tpa_trace_file_nodes(const struct tpa_trace *trace)
{
	uint32_t *numbers = tpa_zalloc(trace->node_count, sizeof(*numbers));

	for (size_t i = trace->node_count; i-- > 0;) /* the file's are below those that were made */
		numbers[tpa_trace_node(trace, (uint32_t)i)] = (uint32_t)i;
	for (uint32_t i = 0; i < TPROF_NODE_FIRST && i < trace->node_count; i++)
		numbers[i] = i;
	return numbers;
}

size_t tpa_trace_stack(const struct tpa_trace *trace, uint32_t node, uint32_t *frames, size_t max, uint32_t *end)
{
	size_t count = 0;

	for (node = tpa_trace_node(trace, node); node >= TPROF_NODE_FIRST; node = trace->nodes[node].parent) {
		if (count < max)
			frames[count] = trace->nodes[node].frame;
		count++;
	}
	*end = node;
	return count;
}
