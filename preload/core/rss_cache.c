/* SPDX-License-Identifier: Apache-2.0 */
#include "core/rss_cache.h"

#include "core/clock.h"

uint64_t tpc_rss_cache_unseen(uint64_t pages)
{
	return pages / TPC_STILL_SHARE < TPC_STILL_FAULTS_MOST ? pages / TPC_STILL_SHARE : TPC_STILL_FAULTS_MOST;
}

void tpc_rss_cache_note(struct tpc_rss_cache *still, uint64_t ticks, uint64_t pages, uint64_t faults)
{
	uint64_t before = tpc_load(&still->pages), change = pages > before ? pages - before : before - pages;

	tpc_store(&still->alike, (uint64_t)(change <= tpc_rss_cache_unseen(pages)));
	tpc_store(&still->pages, pages);
	tpc_store(&still->faults, faults);
	tpc_store(&still->sampled, ticks);
}

bool tpc_rss_cache_is(const struct tpc_rss_cache *still, uint64_t ticks, uint64_t faults)
{
	uint64_t sampled = tpc_load(&still->sampled);

	return sampled && tpc_load(&still->alike) && faults != UINT64_MAX &&
	       ticks - sampled < tpc_clock_ticks(TPC_STILL_NS) &&
	       faults - tpc_load(&still->faults) <= tpc_rss_cache_unseen(tpc_load(&still->pages));
}
