/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the domains of a thread's open ranges or tasks. Those of each domain nest independently. In NVTX and ITT an end
 * does nothing if its domain has none open, so it must not end what another domain began.
 */
#ifndef TPROF_OPS_TOLD_DOMAINS_H
#define TPROF_OPS_TOLD_DOMAINS_H

#include "core/base.h"

#define TPC_DOMAINS_MAX 16u /* deeper ones count as being of the domain that ends one */

struct tpc_domains {
	uint32_t depth;
	uint32_t of[TPC_DOMAINS_MAX]; /* lower halves of addresses: a library that is loaded late gets little TLS */
};

static inline void tpc_domains_push(struct tpc_domains *open, const void *domain)
{
	if (open->depth < TPC_DOMAINS_MAX)
		open->of[open->depth] = (uint32_t)(uintptr_t)domain;
	open->depth++;
}

/* Removes the domain's innermost; *inner is how many of other domains are within it. False: the domain has none. */
static inline bool tpc_domains_pop(struct tpc_domains *open, const void *domain, uint32_t *inner)
{
	uint32_t at = open->depth;

	*inner = 0;
	if (open->depth <= TPC_DOMAINS_MAX) {
		while (at > 0 && open->of[at - 1] != (uint32_t)(uintptr_t)domain)
			at--;
		if (!at)
			return false;
		*inner = open->depth - at;
		for (; at < open->depth; at++)
			open->of[at - 1] = open->of[at];
	}
	open->depth--;
	return true;
}

#endif
