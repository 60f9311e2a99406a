/* SPDX-License-Identifier: Apache-2.0 */
/* What reports by stack want to know of the sites' stacks: each is read once, however many reports a command prints. */
#ifndef TPROF_REPORT_ROWS_SITE_STACKS_H
#define TPROF_REPORT_ROWS_SITE_STACKS_H

#include "report/rows/stack_numbers.h"
#include "report/rows/known_caches.h"

struct tp_site_stack {
	uint32_t chain; /* number of its lines, the same in all processes; 0: not read yet */
	uint32_t frame; /* of the own line, */
	uint16_t line;	/* and which of the frame's lines it is */
	uint8_t holder; /* enum tp_holder, if that was asked for */
	bool own;	/* there is an own line */
	bool cut;	/* outer frames are missing */
	bool held;	/* `holder` is known */
};

struct tp_site_stacks;

/* For so many processes. NULL: memory is out. */
struct tp_site_stacks *tp_site_stacks_new(size_t processes);
void tp_site_stacks_free(struct tp_site_stacks *stacks);

/*
 * Of a site of the process with that index in the run. `read`: its stack, if it was read anyway, else NULL. `held`: with the
 * holder. NULL: memory is out.
 */
const struct tp_site_stack *tp_site_stacks_at(struct tp_site_stacks *stacks, const struct tp_process *process,
					      size_t index, struct tp_symbols *symbols, size_t site,
					      const struct tp_stack *read, bool held);

/* The own line; location NULL: there is none. */
struct tp_line tp_site_stack_own(const struct tp_site_stack *stack, const struct tp_trace *trace,
				 struct tp_symbols *symbols);

#endif
