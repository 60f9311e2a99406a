/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/ranks.h"

#include <math.h>
#include <stdlib.h>

const char *tpa_wait_pattern_name(enum tpa_wait_pattern pattern)
{
	static const char *const names[] = {
		[TPA_WAIT_NONE] = "none",
		[TPA_WAIT_AT_BARRIER] = "Wait at Barrier",
		[TPA_WAIT_AT_NXN] = "Wait at NxN",
		[TPA_WAIT_LATE_BROADCAST] = "Late Broadcast",
		[TPA_WAIT_EARLY_REDUCE] = "Early Reduce",
		[TPA_WAIT_EARLY_SCAN] = "Early Scan",
		[TPA_WAIT_LATE_SENDER] = "Late Sender",
		[TPA_WAIT_LATE_RECEIVER] = "Late Receiver",
		[TPA_WAIT_FOR_NEIGHBOURS] = "Wait for Neighbours",
	};

	return names[pattern];
}

int64_t tpa_rank_own_time(const struct tpa_ranks *ranks, const struct tpa_rank *rank, int64_t time)
{
	const struct tpa_rank_host *host = &ranks->hosts[rank->host];
	double since = ((double)(time - host->middle_ns) - host->offset_ns) / (1 + host->drift);

	return host->middle_ns - rank->own_start + llround(since);
}

void tpa_ranks_free(struct tpa_ranks *ranks)
{
	if (!ranks)
		return;
	for (size_t i = 0; i < ranks->communicator_count; i++)
		free(ranks->communicators[i].name);
	free(ranks->communicators);
	free(ranks->list);
	free(ranks->hosts);
	free(ranks->ops);
	free(ranks->groups);
	free(ranks->members);
	free(ranks->functions);
	free(ranks->late);
	free(ranks->path);
	free(ranks);
}
