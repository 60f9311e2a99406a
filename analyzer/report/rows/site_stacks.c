/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/site_stacks.h"

#include <stdlib.h>

struct tp_site_stacks {
	struct tp_chains chains;
	struct tp_stack stack;
	struct tp_site_stack **lists; /* of a process; NULL: not asked for yet */
	size_t count;
};

struct tp_site_stacks *tp_site_stacks_new(size_t processes)
{
	struct tp_site_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->count = processes;
	stacks->lists = calloc(processes + 1, sizeof(*stacks->lists));
	if (tp_chains_init(&stacks->chains, false) && stacks->lists)
		return stacks;
	tp_site_stacks_free(stacks);
	return NULL;
}

void tp_site_stacks_free(struct tp_site_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; stacks->lists && i < stacks->count; i++)
		free(stacks->lists[i]);
	free(stacks->lists);
	tp_chains_free(&stacks->chains);
	tp_stack_free(&stacks->stack);
	free(stacks);
}

static bool fill(struct tp_site_stacks *stacks, struct tp_site_stack *at, const struct tp_stack *stack)
{
	const struct tp_line *own = tp_stack_own(stack);

	if (own) {
		at->frame = own->frame;
		at->line = (uint16_t)(own->location - own->symbol->locations);
		at->own = true;
	}
	at->cut = stack->end == TPROF_NODE_CUT;
	return tp_chains_number(&stacks->chains, stack, &at->chain);
}

const struct tp_site_stack *tp_site_stacks_at(struct tp_site_stacks *stacks, const struct tp_process *process,
					      size_t index, struct tp_symbols *symbols, size_t site,
					      const struct tp_stack *read, bool held)
{
	uint32_t node = process->sites[site].node;
	struct tp_site_stack *at;

	if (!stacks->lists[index])
		stacks->lists[index] = calloc(process->site_count, sizeof(**stacks->lists));
	if (!stacks->lists[index])
		return NULL;
	at = &stacks->lists[index][site];
	if (!at->chain) {
		if (!read && !tp_stack_read(&stacks->stack, process->trace, symbols, node))
			return NULL;
		if (!fill(stacks, at, read ? read : &stacks->stack))
			return NULL;
	}
	if (held && !at->held) {
		at->holder = (uint8_t)tp_node_holder(process->trace, symbols, node);
		at->held = true;
	}
	return at;
}

struct tp_line tp_site_stack_own(const struct tp_site_stack *stack, const struct tp_trace *trace,
				 struct tp_symbols *symbols)
{
	const struct tp_frame *frame;
	struct tp_line line = { 0 };

	if (!stack->own)
		return line;
	frame = &trace->frames[stack->frame];
	line.symbol = tp_symbols_frame(symbols, stack->frame);
	line.location = &line.symbol->locations[stack->line];
	line.module = frame->module;
	line.address = frame->pc;
	line.frame = stack->frame;
	return line;
}
