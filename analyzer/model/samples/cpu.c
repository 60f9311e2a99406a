/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/cpu.h"

#include <stdlib.h>

#include "trace/number_archive.h"
#include "base/memory.h"
#include "base/order.h"

void tpa_cpu_init(struct tpa_cpu_counts *counts)
{
	tpa_grow(&counts->list, &counts->room, 1, sizeof(*counts->list));
}

void tpa_cpu_free(struct tpa_cpu_counts *counts)
{
	free(counts->list);
	tpa_pairs_free(&counts->index);
}

static uint32_t *index_of(struct tpa_cpu_counts *counts, const struct tpa_cpu_site *where, bool *found)
{
	return tpa_pairs_at(&counts->index, (uint64_t)where->thread << 32 | where->op, where->node, found);
}

void tpa_cpu_count(struct tpa_cpu_counts *counts, const struct tpa_cpu_site *where, uint64_t periods)
{
	struct tpa_cpu_site *site;
	bool found;
	uint32_t *index = index_of(counts, where, &found);

	if (!found) {
		*index = (uint32_t)counts->count;
		*TPA_APPEND(counts->list, counts->count, counts->room) =
			(struct tpa_cpu_site){ .node = where->node, .thread = where->thread, .op = where->op };
	}
	site = &counts->list[*index];
	site->cpu.samples++;
	site->cpu.periods += periods;
	site->cpu.squares += (double)periods * (double)periods;
}

static int compare(const void *left, const void *right)
{
	const struct tpa_cpu_site *a = left, *b = right;

	return TPA_UP(a->node, b->node) ?: TPA_UP(a->thread, b->thread) ?: TPA_UP(a->op, b->op);
}

struct tpa_cpu_site *tpa_cpu_result(struct tpa_cpu_counts *counts, size_t *count)
{
	struct tpa_cpu_site *list = counts->list;

	qsort(list, counts->count, sizeof(*list), compare);
	*count = counts->count;
	counts->list = NULL;
	counts->count = counts->room = 0;
	return list;
}

void tpa_cpu_archive(struct tpa_archive *archive, struct tpa_cpu_counts *counts)
{
	tpa_archive_array(archive, &counts->list, &counts->count, &counts->room, sizeof(*counts->list));
	for (size_t i = 0; i < counts->count; i++) {
		tpa_archive_node(archive, &counts->list[i].node);
		tpa_archive_op(archive, &counts->list[i].op);
	}
	for (size_t i = 0; archive->loading && i < counts->count; i++) {
		bool found;

		*index_of(counts, &counts->list[i], &found) = (uint32_t)i;
	}
}

void tpa_cpu_add(struct tpa_cpu *to, const struct tpa_cpu *from)
{
	to->samples += from->samples;
	to->periods += from->periods;
	to->squares += from->squares;
}
