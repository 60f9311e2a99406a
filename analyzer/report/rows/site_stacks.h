/* SPDX-License-Identifier: Apache-2.0 */
/* What reports by stack want to know of the sites' stacks: each is read once, however many reports a command prints. */
#ifndef TPROF_REPORT_ROWS_SITE_STACKS_H
#define TPROF_REPORT_ROWS_SITE_STACKS_H

#include "report/rows/stack_numbers.h"
#include "report/rows/known_caches.h"

struct tpa_site_stack {
	uint32_t chain; /* number of its lines, the same in all processes; 0: not read yet */
	uint32_t frame; /* of the own line, */
	uint16_t line;	/* and which of the frame's lines it is */
	uint8_t holder; /* enum tpa_holder, if that was asked for */
	bool own;	/* there is an own line */
	bool cut;	/* outer frames are missing */
	bool held;	/* `holder` is known */
};

struct tpa_site_stacks;

/* For a run of that many processes. */
struct tpa_site_stacks *tpa_site_stacks_new(size_t processes);
void tpa_site_stacks_free(struct tpa_site_stacks *stacks);

/*
 * Of a site of the process with that index in the run. `read`: its stack, if it was read anyway, else NULL. `held`: with the
 * holder.
 */
const struct tpa_site_stack *tpa_site_stacks_at(struct tpa_site_stacks *stacks, const struct tpa_process *process,
						size_t index, struct tpa_symbols *symbols, size_t site,
						const struct tpa_stack *read, bool held);

/* The own line; location NULL: there is none. */
struct tpa_line tpa_site_stack_own(const struct tpa_site_stack *stack, const struct tpa_trace *trace,
				   struct tpa_symbols *symbols);

#endif
