/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/start_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

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

/* A trace by a number of its header. */
struct place {
	uint64_t number;
	size_t index;
};

static int by_number(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return TPA_UP(x->number, y->number) ?: TPA_UP(x->index, y->index);
}

struct finding {
	struct tpa_trace *const *traces;
	size_t count;
	struct place *pids; /* of all traces, sorted */
};

/* Looks for a better parent among the traces with a pid; of equally good ones the first trace is taken. */
static void look(const struct finding *finding, uint32_t pid, const struct tprof_header *child, size_t *found)
{
	for (size_t i = TPA_BELOW(finding->pids, finding->count, number, pid);
	     i < finding->count && finding->pids[i].number == pid; i++) {
		size_t index = finding->pids[i].index;
		const struct tprof_header *parent = finding->traces[index]->header;
		const struct tprof_header *best = *found < finding->count ? finding->traces[*found]->header : NULL;

		if (!may_be_parent(parent, child))
			continue;
		if (is_better(parent, best, child) || (index < *found && !is_better(best, parent, child)))
			*found = index;
	}
}

static size_t find_parent(const struct finding *finding, const struct tprof_header *child)
{
	size_t found = finding->count;

	look(finding, child->ppid, child, &found);
	if (child->pid != child->ppid)
		look(finding, child->pid, child, &found);
	return found;
}

struct tpa_start *tpa_starts_find(struct tpa_trace *const *traces, size_t count)
{
	struct tpa_start *starts = tpa_zalloc(count + 1, sizeof(*starts));
	struct place *order = tpa_zalloc(count + 1, sizeof(*order));
	struct finding finding = { traces, count, tpa_zalloc(count + 1, sizeof(*finding.pids)) };

	for (size_t i = 0; i < count; i++) {
		finding.pids[i] = (struct place){ traces[i]->header->pid, i };
		order[i] = (struct place){ traces[i]->header->start.mono_ns, i };
	}
	qsort(finding.pids, count, sizeof(*finding.pids), by_number);
	qsort(order, count, sizeof(*order), by_number);
	for (size_t i = 0; i < count; i++) { /* parents come before their children */
		struct tpa_start *start = &starts[order[i].index];
		const struct tprof_header *header = traces[order[i].index]->header;

		start->parent = find_parent(&finding, header);
		start->ns = header->start.unix_ns;
		if (start->parent < count)
			start->ns = starts[start->parent].ns +
				    (header->start.mono_ns - traces[start->parent]->header->start.mono_ns);
	}
	free(finding.pids);
	free(order);
	return starts;
}

uint64_t tpa_starts_first(const struct tpa_start *starts, size_t count)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (starts[i].parent == count && starts[i].ns < first)
			first = starts[i].ns;
	return first;
}
