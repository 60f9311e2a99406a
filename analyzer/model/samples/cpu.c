/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/cpu.h"

#include <stdlib.h>

#include "trace/number_archive.h"
#include "base/memory.h"

#define FIRST_BITS 8

void tp_cpu_init(struct tp_cpu_counts *counts)
{
	counts->bits = FIRST_BITS;
	counts->table = tp_zalloc((size_t)1 << counts->bits, sizeof(*counts->table));
	tp_grow(&counts->list, &counts->room, 1, sizeof(*counts->list));
}

void tp_cpu_free(struct tp_cpu_counts *counts)
{
	free(counts->list);
	free(counts->table);
}

static bool same(const struct tp_cpu_site *a, const struct tp_cpu_site *b)
{
	return a->node == b->node && a->thread == b->thread && a->op == b->op;
}

static uint32_t *find(const struct tp_cpu_counts *counts, const struct tp_cpu_site *where)
{
	uint64_t hash = (((uint64_t)where->thread << 32 ^ where->op) * UINT64_C(0xbf58476d1ce4e5b9) ^ where->node) *
			UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = ((size_t)1 << counts->bits) - 1,
	       i = (size_t)((hash ^ hash >> 29) * UINT64_C(0x94d049bb133111eb) >> (64 - counts->bits));

	while (counts->table[i] && !same(&counts->list[counts->table[i] - 1], where))
		i = (i + 1) & mask;
	return &counts->table[i];
}

/* A table with room for all sites. */
static void grow(struct tp_cpu_counts *counts)
{
	while (counts->count >= (size_t)1 << (counts->bits - 1))
		counts->bits++;
	free(counts->table);
	counts->table = tp_zalloc((size_t)1 << counts->bits, sizeof(*counts->table));
	for (size_t i = 0; i < counts->count; i++)
		*find(counts, &counts->list[i]) = (uint32_t)i + 1;
}

void tp_cpu_count(struct tp_cpu_counts *counts, const struct tp_cpu_site *where, uint64_t periods)
{
	struct tp_cpu_site *site;
	uint32_t *slot;

	if (counts->count >= (size_t)1 << (counts->bits - 1))
		grow(counts);
	slot = find(counts, where);
	if (!*slot) {
		tp_grow(&counts->list, &counts->room, counts->count + 1, sizeof(*counts->list));
		counts->list[counts->count] =
			(struct tp_cpu_site){ .node = where->node, .thread = where->thread, .op = where->op };
		*slot = (uint32_t)++counts->count;
	}
	site = &counts->list[*slot - 1];
	site->cpu.samples++;
	site->cpu.periods += periods;
	site->cpu.squares += (double)periods * (double)periods;
}

static int compare(const void *left, const void *right)
{
	const struct tp_cpu_site *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

struct tp_cpu_site *tp_cpu_result(struct tp_cpu_counts *counts, size_t *count)
{
	struct tp_cpu_site *list = counts->list;

	qsort(list, counts->count, sizeof(*list), compare);
	*count = counts->count;
	counts->list = NULL;
	counts->count = counts->room = 0;
	return list;
}

void tp_cpu_archive(struct tp_archive *archive, struct tp_cpu_counts *counts)
{
	tp_archive_array(archive, &counts->list, &counts->count, &counts->room, sizeof(*counts->list));
	for (size_t i = 0; i < counts->count; i++) {
		tp_archive_node(archive, &counts->list[i].node);
		tp_archive_op(archive, &counts->list[i].op);
	}
	if (archive->loading)
		grow(counts);
}

void tp_cpu_add(struct tp_cpu *to, const struct tp_cpu *from)
{
	to->samples += from->samples;
	to->periods += from->periods;
	to->squares += from->squares;
}
