/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for stacks as printed: stacks with the same lines (a chain) have the same number, also in different processes. A chain
 * is looked up by its hash, and then compared with a stack that has the chain. That stack is read again for the comparison, so
 * that memory grows with the number of distinct stacks, not with their lines.
 */
#ifndef TPROF_REPORT_ROWS_STACK_NUMBERS_H
#define TPROF_REPORT_ROWS_STACK_NUMBERS_H

#include "report/rows/line_keys.h"

struct tpa_chain;
struct tpa_chain_source;

struct tpa_chains {
	struct tpa_keys keys;
	struct tpa_pairs numbers; /* key of a line to its number */
	struct tpa_pairs index;	  /* (hash, number of earlier chains with that hash) to a chain's number */
	struct tpa_chain *list;
	size_t count, room;
	struct tpa_chain_source *sources; /* one for each process */
	size_t source_count, source_room;
	struct tpa_stack other; /* scratch: the stack to compare with */
	bool whole;
};

/* `whole`: also compare the innermost lines, which are folded away; else only the lines that are shown. */
void tpa_chains_init(struct tpa_chains *chains, bool whole);
void tpa_chains_free(struct tpa_chains *chains);

/* Returns the stack's number, from 1 on. The stack's symbols must stay open as long as the chains. */
uint32_t tpa_chains_number(struct tpa_chains *chains, const struct tpa_stack *stack);

#endif
