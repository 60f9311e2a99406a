/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a stopped process for what holds blocks; part of commands/search/leakcheck.h. */
#ifndef TPROF_COMMANDS_SEARCH_HOLDERS_SEARCH_H
#define TPROF_COMMANDS_SEARCH_HOLDERS_SEARCH_H

#include "commands/search/roots.h"
#include "trace/append.h"

/* `take`: frees the list held->blocks during the search, to save memory. */
void tpa_holders_search(const struct tpa_trace *trace, struct tpa_frozen *frozen, struct tpa_reach_held *held,
			bool take, const struct tpa_roots *roots, uint64_t ticks, struct tpa_holders_result *result);

#endif
