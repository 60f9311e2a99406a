/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts small branches off the tree of a trace's stacks, before anything is named: a program may have a million stacks, and each
 * frame's name takes time.
 */
#ifndef TPROF_REPORT_HTML_PAGE_CUT_H
#define TPROF_REPORT_HTML_PAGE_CUT_H

#include "trace/trace.h"

struct tpa_page_cut {
	const struct tpa_trace *trace;
	double *weights; /* by stack node */
	uint32_t *kept;	 /* by stack node: itself, or the nearest one further out that is kept; NULL: all are kept */
};

/* Call it when all stacks of the trace were read. Free it with tpa_page_cut_free(). */
void tpa_page_cut_init(struct tpa_page_cut *cut, const struct tpa_trace *trace);
void tpa_page_cut_free(struct tpa_page_cut *cut);

void tpa_page_cut_weigh(struct tpa_page_cut *cut, uint32_t node, double weight);

/* Chooses about as many nodes as `most`, the heaviest, and the outermost ones. Once, when all are weighed. */
void tpa_page_cut_choose(struct tpa_page_cut *cut, size_t most);

static inline uint32_t tpa_page_cut_kept(const struct tpa_page_cut *cut, uint32_t node)
{
	return cut->kept && node < cut->trace->node_count ? cut->kept[node] : node;
}

#endif
