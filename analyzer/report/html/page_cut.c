/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_cut.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

void tpa_page_cut_init(struct tpa_page_cut *cut, const struct tpa_trace *trace)
{
	*cut = (struct tpa_page_cut){ .trace = trace, .weights = tpa_zalloc(trace->node_count + 1, sizeof(double)) };
}

void tpa_page_cut_free(struct tpa_page_cut *cut)
{
	free(cut->weights);
	free(cut->kept);
}

void tpa_page_cut_weigh(struct tpa_page_cut *cut, uint32_t node, double weight)
{
	if (node < cut->trace->node_count)
		cut->weights[node] += weight;
}

/* Adds each node's weight to those further out. Parents come before their children. */
static size_t sum(struct tpa_page_cut *cut)
{
	size_t used = 0;

	for (size_t i = cut->trace->node_count; i-- > TPROF_NODE_FIRST;) {
		uint32_t parent = cut->trace->nodes[i].parent;

		used += cut->weights[i] > 0;
		if (parent >= TPROF_NODE_FIRST)
			cut->weights[parent] += cut->weights[i];
	}
	return used;
}

/* The weight that `most` nodes exceed. */
static double threshold(const struct tpa_page_cut *cut, size_t used, size_t most)
{
	double *sorted = tpa_zalloc(used + 1, sizeof(*sorted)), bound;
	size_t count = 0;

	for (size_t i = TPROF_NODE_FIRST; i < cut->trace->node_count; i++)
		if (cut->weights[i] > 0)
			sorted[count++] = cut->weights[i];
	TPA_SORT_NUMBERS(sorted, count);
	bound = sorted[count - 1 - most];
	free(sorted);
	return bound;
}

void tpa_page_cut_choose(struct tpa_page_cut *cut, size_t most)
{
	size_t used = sum(cut);
	double bound;

	if (used <= most)
		return;
	bound = threshold(cut, used, most);
	cut->kept = tpa_zalloc(cut->trace->node_count, sizeof(*cut->kept));
	for (size_t i = 0; i < cut->trace->node_count; i++) {
		uint32_t parent = i < TPROF_NODE_FIRST ? 0 : cut->trace->nodes[i].parent;
		bool keep = parent < TPROF_NODE_FIRST || cut->weights[i] > bound;

		cut->kept[i] = keep ? (uint32_t)i : cut->kept[parent];
	}
}
