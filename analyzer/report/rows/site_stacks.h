/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches what reports by stack need to know of each site's stack, so that a command that prints several reports reads each stack
 * once.
 */
#ifndef TPROF_REPORT_ROWS_SITE_STACKS_H
#define TPROF_REPORT_ROWS_SITE_STACKS_H

#include "report/rows/stack_numbers.h"
#include "report/rows/known_caches.h"

struct tpa_site_stack {
	uint32_t chain; /* number of the stack (tpa_chains_number()), common to all processes; 0: not read yet */
	uint32_t frame; /* frame of the own line */
	uint16_t line;	/* index of the own line among the frame's lines (inlined functions) */
	uint8_t holder; /* enum tpa_holder; valid if `held` */
	bool own;	/* there is an own line */
	bool cut;	/* outer frames are missing */
	bool held;	/* `holder` is known */
};

struct tpa_site_stacks;

/* `processes`: number of processes of the run. */
struct tpa_site_stacks *tpa_site_stacks_new(size_t processes);
void tpa_site_stacks_free(struct tpa_site_stacks *stacks);

/*
 * Returns what is known of a site's stack. `index`: position of the process in its run. `site`: index in process->sites. `read`:
 * the stack if the caller has read it, else NULL. `held`: also find the holder. The result is valid as long as `stacks`, and
 * `symbols` must stay open as long.
 */
const struct tpa_site_stack *tpa_site_stacks_at(struct tpa_site_stacks *stacks, const struct tpa_process *process,
						size_t index, struct tpa_symbols *symbols, size_t site,
						const struct tpa_stack *read, bool held);

/* Returns the own line; its location is NULL if there is none. */
struct tpa_line tpa_site_stack_own(const struct tpa_site_stack *stack, const struct tpa_trace *trace,
				   struct tpa_symbols *symbols);

#endif
