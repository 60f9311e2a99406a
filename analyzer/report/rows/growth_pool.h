/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth put together by what symbols tell: all stacks that a function, a line (of Python too) or a module stands in, or that
 * an op has. model/growth/growth.h says what it is good for.
 */
#ifndef TPROF_REPORT_ROWS_GROWTH_POOL_H
#define TPROF_REPORT_ROWS_GROWTH_POOL_H

#include "model/growth/growth.h"
#include "report/rows/rows.h"
#include "report/rows/suppressions.h"

struct tpa_growth_group {
	struct tpa_line line; /* by function, line, module; location NULL: stacks that were not recorded, or an op */
	const char *op;	      /* by op; NULL: outside of every op */
};

struct tpa_growth_pooled {
	struct tpa_growth_list list;	 /* of leaks; `number` is the group's */
	struct tpa_growth_group *groups; /* strings live as long as the symbols */
	size_t count;			 /* of groups */
	size_t varying;			 /* of them, that changed: what the correction counts */
};

/* Can growth be put together so? */
static inline bool tpa_growth_pools_by(enum tpa_by by)
{
	return by == TPA_BY_FUNCTION || by == TPA_BY_LINE || by == TPA_BY_MODULE || by == TPA_BY_OP;
}

/*
 * Of a process that was replayed with keep_growth. Stacks that the filter or the suppressions (each may be NULL) leave out are
 * in no group.
 */
void tpa_growth_pooled(struct tpa_growth_pooled *pooled, const struct tpa_process *process, struct tpa_symbols *symbols,
		       enum tpa_by by, const regex_t *filter, struct tpa_suppressions *suppressions);
void tpa_growth_pooled_free(struct tpa_growth_pooled *pooled);

#endif
