/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which domains a thread's ranges or tasks were begun. Each domain's nest by themselves, and an end where its domain has
 * none open does nothing in NVTX and ITT: so it must not end what somebody else began.
 */
#ifndef TPROF_OPS_TOLD_DOMAINS_H
#define TPROF_OPS_TOLD_DOMAINS_H

#include "core/base.h"

#define TPC_DOMAINS_MAX 16u /* deeper ones are taken to be of the domain that ends one */

struct tpc_domains {
	uint32_t depth;
	uint32_t of[TPC_DOMAINS_MAX]; /* addresses, lower halves: a library that is loaded late has little TLS */
};

static inline void tpc_domains_push(struct tpc_domains *open, const void *domain)
{
	if (open->depth < TPC_DOMAINS_MAX)
		open->of[open->depth] = (uint32_t)(uintptr_t)domain;
	open->depth++;
}

/* The domain's innermost, and how many of others are in it. False: there is none of that domain. */
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
