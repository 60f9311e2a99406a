/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of stacks as they are printed: the same number for the same lines, also of different processes. A chain of lines is
 * found by its hash and held against a stack that is known to have it, which is read again for that: so that memory grows
 * with the distinct stacks, and not with their lines.
 */
#ifndef TPROF_REPORT_ROWS_STACK_NUMBERS_H
#define TPROF_REPORT_ROWS_STACK_NUMBERS_H

#include "report/rows/line_keys.h"

struct tpa_chain;
struct tpa_chain_source;

struct tpa_chains {
	struct tpa_keys keys;
	struct tpa_pairs numbers; /* of a line's key */
	struct tpa_pairs index;	  /* (hash, how many others have it) to a chain's number */
	struct tpa_chain *list;
	size_t count, room;
	struct tpa_chain_source *sources; /* processes */
	size_t source_count, source_room;
	struct tpa_stack other;
	bool whole;
};

/* `whole`: of all lines up to the outermost one that is shown; else of those that are. */
void tpa_chains_init(struct tpa_chains *chains, bool whole);
void tpa_chains_free(struct tpa_chains *chains);

/* The stack's number, from 1 on. The stack's symbols must stay open as long as the chains. */
uint32_t tpa_chains_number(struct tpa_chains *chains, const struct tpa_stack *stack);

#endif
