/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the process's memory stand still? Reading RSS costs an open, a read and a close of a file in /proc: 40
 * microseconds of a program that uses the caches itself. Reading the number of page faults costs a tenth of a
 * microsecond. RSS grows by faults. So if there were almost none since a sample that was like the one before it, the
 * next sample would say the same. A decrease alone is noticed a little later. `pages` is the size of private memory,
 * which also tells whether it shrank.
 */
#ifndef TPROF_CORE_RSS_CACHE_H
#define TPROF_CORE_RSS_CACHE_H

#include "core/base.h"

#define TPC_STILL_NS 160000000u	 /* sampled at least this often, however still */
#define TPC_STILL_SHARE 2048u	 /* the part of private memory that may come and go unnoticed */
#define TPC_STILL_FAULTS_MOST 32 /* at most */

/*
 * Several threads take samples. If two do so at once, the fields may mix both, and there is one sample too few or too
 * many.
 */
struct tpc_rss_cache {
	tpc_shared_u64 sampled;	      /* ticks, of the last sample; 0: there is none */
	tpc_shared_u64 pages, faults; /* then */
	tpc_shared_u64 alike;	      /* 1: it was like the sample before it */
};

/* How many of `pages` may come and go unnoticed. */
uint64_t tpc_rss_cache_unseen(uint64_t pages);

/* A sample was taken; `faults` were counted before it: tpc_usage_faults(). */
void tpc_rss_cache_note(struct tpc_rss_cache *still, uint64_t ticks, uint64_t pages, uint64_t faults);

/* Would a sample now repeat the last one? */
bool tpc_rss_cache_is(const struct tpc_rss_cache *still, uint64_t ticks, uint64_t faults);

#endif
