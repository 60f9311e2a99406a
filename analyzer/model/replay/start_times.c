/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/start_times.h"

/* Strictly before, so that a chain of parents ends even if headers are damaged. */
static bool may_be_parent(const struct tprof_header *parent, const struct tprof_header *child)
{
	if (child->origin == TPROF_ORIGIN_FIRST || parent->start.mono_ns >= child->start.mono_ns)
		return false;
	return child->ppid == parent->pid ||
	       (child->pid == parent->pid && child->process_start == parent->process_start);
}

static uint64_t later_start(const struct tprof_header *parent, const struct tprof_header *child)
{
	return parent->start.unix_ns + (child->start.mono_ns - parent->start.mono_ns);
}

/* Pids repeat across containers and machines: of several, the parent is the one whose clocks agree best with the child's. */
static const struct tprof_header *find_parent(struct tpa_trace *const *traces, size_t count,
					      const struct tprof_header *child)
{
	const struct tprof_header *found = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		const struct tprof_header *parent = traces[i]->header;
		uint64_t start, apart;

		if (!may_be_parent(parent, child))
			continue;
		start = later_start(parent, child);
		apart = start > child->start.unix_ns ? start - child->start.unix_ns : child->start.unix_ns - start;
		if (!found || apart < least) {
			found = parent;
			least = apart;
		}
	}
	return found;
}

uint64_t tpa_start_of(struct tpa_trace *const *traces, size_t count, size_t which)
{
	const struct tprof_header *header = traces[which]->header, *parent;
	uint64_t since = 0;

	while ((parent = find_parent(traces, count, header)) != NULL) {
		since += header->start.mono_ns - parent->start.mono_ns;
		header = parent;
	}
	return header->start.unix_ns + since;
}

uint64_t tpa_run_start(struct tpa_trace *const *traces, size_t count)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		uint64_t start = traces[i]->header->start.unix_ns;

		if (start < first && !find_parent(traces, count, traces[i]->header))
			first = start;
	}
	return first;
}

size_t tpa_parent_of(struct tpa_trace *const *traces, size_t count, size_t which)
{
	const struct tprof_header *parent = find_parent(traces, count, traces[which]->header);
	size_t i = 0;

	while (i < count && traces[i]->header != parent)
		i++;
	return i;
}
