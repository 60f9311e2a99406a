/* SPDX-License-Identifier: Apache-2.0 */
#include "core/rss_cache.h"

#include "core/clock.h"

uint64_t tp_rss_cache_unseen(uint64_t pages)
{
	return pages / TP_STILL_SHARE < TP_STILL_FAULTS_MOST ? pages / TP_STILL_SHARE : TP_STILL_FAULTS_MOST;
}

void tp_rss_cache_note(struct tp_rss_cache *still, uint64_t ticks, uint64_t pages, uint64_t faults)
{
	uint64_t before = tp_load(&still->pages), change = pages > before ? pages - before : before - pages;

	tp_store(&still->alike, (uint64_t)(change <= tp_rss_cache_unseen(pages)));
	tp_store(&still->pages, pages);
	tp_store(&still->faults, faults);
	tp_store(&still->sampled, ticks);
}

bool tp_rss_cache_is(const struct tp_rss_cache *still, uint64_t ticks, uint64_t faults)
{
	uint64_t sampled = tp_load(&still->sampled);

	return sampled && tp_load(&still->alike) && faults != UINT64_MAX &&
	       ticks - sampled < tp_clock_ticks(TP_STILL_NS) &&
	       faults - tp_load(&still->faults) <= tp_rss_cache_unseen(tp_load(&still->pages));
}
