/* SPDX-License-Identifier: Apache-2.0 */
/* "ranks": what the ranks of a parallel job did to one another. */
#ifndef TPROF_REPORT_JSON_RANK_JSON_H
#define TPROF_REPORT_JSON_RANK_JSON_H

#include <jansson.h>

#include "report/rows/rank_view.h"

/* A new reference. `top`: entries of the lists that may be long; 0: all. */
json_t *tpa_ranks_json(const struct tpa_rank_view *view, uint64_t top);

#endif
