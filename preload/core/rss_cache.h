/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the process's memory stand still? RSS costs an open, a read and a close of a file in /proc, 40 microseconds of a
 * program that uses the caches itself; the number of page faults costs a tenth of one. RSS grows by faults: where there
 * were next to none since a sample that was like the one before it, the next would say the same. What only shrinks is seen
 * a little later. `pages` are those of private memory: how large it is, and whether it shrank.
 */
#ifndef TPROF_CORE_RSS_CACHE_H
#define TPROF_CORE_RSS_CACHE_H

#include "core/base.h"

#define TPC_STILL_NS 160000000u	 /* however still: the next sample comes after that long */
#define TPC_STILL_SHARE 2048u	 /* of private memory: what may come and go unseen */
#define TPC_STILL_FAULTS_MOST 32 /* however large it is */

/* Threads take samples in turn; where two meet, what is kept may be of both, and one sample is too few or too many. */
struct tpc_rss_cache {
	tpc_shared_u64 sampled;	      /* ticks, of the last sample; 0: there is none */
	tpc_shared_u64 pages, faults; /* then */
	tpc_shared_u64 alike;	      /* 1: it was like the one before */
};

/* Pages that may come and go unseen, of so many. */
uint64_t tpc_rss_cache_unseen(uint64_t pages);

/* A sample is taken; `faults` as they were before it: tpc_usage_faults(). */
void tpc_rss_cache_note(struct tpc_rss_cache *still, uint64_t ticks, uint64_t pages, uint64_t faults);

/* Would a sample now say what the last one said? */
bool tpc_rss_cache_is(const struct tpc_rss_cache *still, uint64_t ticks, uint64_t faults);

#endif
