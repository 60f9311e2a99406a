/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/guessed.h"

#include <stdlib.h>

#include "base/memory.h"
#include "report/rows/lost_callers.h"

enum { NATIVE = 1, GUESSED = 2 }; /* by node: what its stack has, from the node outwards */

static uint8_t facts_of(const struct tpa_trace *trace, const struct tpa_node *node, uint8_t outer)
{
	const struct tpa_frame *frame = &trace->frames[node->frame];

	if (frame->code)
		return outer;
	return outer | NATIVE | (outer & NATIVE && tpa_frame_is_untabled(frame) ? GUESSED : 0);
}

/* By node. NULL: no stack is guessed. */
static uint8_t *find_facts(const struct tpa_trace *trace)
{
	uint8_t *facts = tpa_zalloc(trace->node_count, sizeof(*facts)), all = 0;

	for (size_t i = TPROF_NODE_FIRST; i < trace->node_count; i++) { /* a node's parent is before it */
		facts[i] = facts_of(trace, &trace->nodes[i], facts[trace->nodes[i].parent]);
		all |= facts[i];
	}
	if (all & GUESSED)
		return facts;
	free(facts);
	return NULL;
}

struct tpa_guessed tpa_guessed_find(const struct tpa_process *process)
{
	struct tpa_guessed guessed = { 0 };
	uint64_t allocations = 0, samples = 0;
	uint8_t *facts = tpa_trace_has_untabled(process->trace) ? find_facts(process->trace) : NULL;

	if (!facts)
		return guessed;
	for (size_t i = 0; i < process->site_count; i++) {
		allocations += process->sites[i].allocations;
		if (facts[process->sites[i].node] & GUESSED)
			guessed.allocations += process->sites[i].allocations;
	}
	for (size_t i = 0; i < process->cpu_site_count; i++) {
		samples += process->cpu_sites[i].cpu.samples;
		if (facts[process->cpu_sites[i].node] & GUESSED)
			guessed.samples += process->cpu_sites[i].cpu.samples;
	}
	guessed.allocation_share = tpa_part_of(guessed.allocations, allocations);
	guessed.sample_share = tpa_part_of(guessed.samples, samples);
	free(facts);
	return guessed;
}
