/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/site_stacks.h"

#include <stdlib.h>

#include "base/memory.h"

struct tpa_site_stacks {
	struct tpa_chains chains;
	struct tpa_stack stack;
	struct tpa_site_stack **lists; /* for each process, one element for each site; NULL: not used yet */
	size_t count;
};

struct tpa_site_stacks *tpa_site_stacks_new(size_t processes)
{
	struct tpa_site_stacks *stacks = tpa_zalloc(1, sizeof(*stacks));

	stacks->count = processes;
	stacks->lists = tpa_zalloc(processes, sizeof(*stacks->lists));
	tpa_chains_init(&stacks->chains, false);
	return stacks;
}

void tpa_site_stacks_free(struct tpa_site_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->count; i++)
		free(stacks->lists[i]);
	free(stacks->lists);
	tpa_chains_free(&stacks->chains);
	tpa_stack_free(&stacks->stack);
	free(stacks);
}

static void fill(struct tpa_site_stacks *stacks, struct tpa_site_stack *at, const struct tpa_stack *stack)
{
	const struct tpa_line *own = tpa_stack_own(stack);

	if (own) {
		at->frame = own->frame;
		at->line = (uint16_t)(own->location - own->symbol->locations);
		at->own = true;
	}
	at->cut = stack->end == TPROF_NODE_CUT;
	at->chain = tpa_chains_number(&stacks->chains, stack);
}

const struct tpa_site_stack *tpa_site_stacks_at(struct tpa_site_stacks *stacks, const struct tpa_process *process,
						size_t index, struct tpa_symbols *symbols, size_t site,
						const struct tpa_stack *read, bool held)
{
	uint32_t node = process->sites[site].node;
	struct tpa_site_stack *at;

	if (!stacks->lists[index])
		stacks->lists[index] = tpa_zalloc(process->site_count, sizeof(**stacks->lists));
	at = &stacks->lists[index][site];
	if (!at->chain) {
		if (!read)
			tpa_stack_read(&stacks->stack, process->trace, symbols, node);
		fill(stacks, at, read ? read : &stacks->stack);
	}
	if (held && !at->held) {
		at->holder = (uint8_t)tpa_node_holder(process->trace, symbols, node);
		at->held = true;
	}
	return at;
}

struct tpa_line tpa_site_stack_own(const struct tpa_site_stack *stack, const struct tpa_trace *trace,
				   struct tpa_symbols *symbols)
{
	const struct tpa_frame *frame;
	struct tpa_line line = { 0 };

	if (!stack->own)
		return line;
	frame = &trace->frames[stack->frame];
	line.symbol = tpa_symbols_frame(symbols, stack->frame);
	line.location = &line.symbol->locations[stack->line];
	line.module = frame->module;
	line.address = frame->pc;
	line.frame = stack->frame;
	return line;
}
