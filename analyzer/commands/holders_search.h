/* SPDX-License-Identifier: Apache-2.0 */
/* The search for what holds blocks, in a process that stands still; part of commands/leakcheck.h. */
#ifndef TPROF_COMMANDS_HOLDERS_SEARCH_H
#define TPROF_COMMANDS_HOLDERS_SEARCH_H

#include "commands/roots.h"
#include "trace/append.h"

/* `take`: the list of held->blocks is used up, which saves memory. */
void tpa_holders_search(const struct tpa_trace *trace, struct tpa_frozen *frozen, struct tpa_reach_held *held,
			bool take, const struct tpa_roots *roots, uint64_t ticks, struct tpa_holders_result *result);

#endif
