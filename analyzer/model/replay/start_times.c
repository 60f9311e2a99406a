/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/start_times.h"

#include <string.h>

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

/* Is it known that they ran under one kernel, in one namespace of pids? Then no two processes had a pid at the same time. */
static bool is_same_machine(const struct tprof_header *a, const struct tprof_header *b)
{
	static const uint8_t unknown[sizeof(a->boot_id)];

	return memcmp(a->boot_id, unknown, sizeof(unknown)) != 0 && a->pid_namespace == b->pid_namespace &&
	       memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

/* How far the start of a child lies from where its parent's clocks put it, ns. */
static uint64_t apart(const struct tprof_header *parent, const struct tprof_header *child)
{
	uint64_t start = later_start(parent, child);

	return start > child->start.unix_ns ? start - child->start.unix_ns : child->start.unix_ns - start;
}

/*
 * Pids repeat across containers and machines: of several, the parent is the one whose clocks agree best with the child's. Programs
 * that followed each other in one process by exec have the same pid, too: the parent is the latest one before the child.
 */
static bool is_better(const struct tprof_header *parent, const struct tprof_header *found,
		      const struct tprof_header *child)
{
	bool same = is_same_machine(parent, child);

	if (!found || same != is_same_machine(found, child))
		return !found || same;
	return same ? parent->start.mono_ns > found->start.mono_ns : apart(parent, child) < apart(found, child);
}

static const struct tprof_header *find_parent(struct tpa_trace *const *traces, size_t count,
					      const struct tprof_header *child)
{
	const struct tprof_header *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct tprof_header *parent = traces[i]->header;

		if (may_be_parent(parent, child) && is_better(parent, found, child))
			found = parent;
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
