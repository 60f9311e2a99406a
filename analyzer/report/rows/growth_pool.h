/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth summed up by symbols: over all stacks that have a function, a line (also of Python) or a module, or over all
 * of an op. model/growth/growth.h says what that is good for.
 */
#ifndef TPROF_REPORT_ROWS_GROWTH_POOL_H
#define TPROF_REPORT_ROWS_GROWTH_POOL_H

#include "model/growth/growth.h"
#include "report/rows/rows.h"
#include "report/rows/suppressions.h"

struct tpa_growth_group {
	struct tpa_line line; /* by function, line, module; location NULL: stacks that were not recorded, or by op */
	const char *op;	      /* by op; NULL: outside every op */
};

struct tpa_growth_pooled {
	struct tpa_growth_list list;	 /* leaks; `number` is the index in `groups` */
	struct tpa_growth_group *groups; /* strings live as long as the symbols */
	size_t count;			 /* number of groups */
	size_t varying;			 /* number of groups that changed, for which p is corrected */
};

/* Can growth be grouped that way? */
static inline bool tpa_growth_pools_by(enum tpa_by by)
{
	return by == TPA_BY_FUNCTION || by == TPA_BY_LINE || by == TPA_BY_MODULE || by == TPA_BY_OP;
}

/*
 * Groups the growth of a process that was replayed with keep_growth. Stacks excluded by the filter or the
 * suppressions (each may be NULL) are in no group. Free the result with tpa_growth_pooled_free().
 */
void tpa_growth_pooled(struct tpa_growth_pooled *pooled, const struct tpa_process *process, struct tpa_symbols *symbols,
		       enum tpa_by by, const regex_t *filter, struct tpa_suppressions *suppressions);
void tpa_growth_pooled_free(struct tpa_growth_pooled *pooled);

#endif
