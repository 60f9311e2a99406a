/* SPDX-License-Identifier: Apache-2.0 */
/* A run as OpenMetrics text (version 1.0.0, openmetrics.io): totals, what leaks, and ops. Used by export and by tprof live. */
#ifndef TPROF_EXPORT_OPENMETRICS_H
#define TPROF_EXPORT_OPENMETRICS_H

#include <regex.h>
#include <stdio.h>

#include "model/result/result.h"
#include "symbols/symbols.h"

struct tpa_suppressions;

/* `symbols`: of each process of the run. `filter`, `suppressions`: of what leaks; NULL: none. */
void tpa_openmetrics_write(FILE *to, const struct tpa_run *run, struct tpa_symbols *const *symbols,
			   const regex_t *filter, struct tpa_suppressions *suppressions);

#endif
