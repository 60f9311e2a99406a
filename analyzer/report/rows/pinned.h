/* SPDX-License-Identifier: Apache-2.0 */
/* Free memory that a leak's blocks keep from being reused or returned to the system: see model/heap/holes.h. */
#ifndef TPROF_REPORT_ROWS_PINNED_H
#define TPROF_REPORT_ROWS_PINNED_H

#include "model/result/result.h"

struct tpa_pinned {
	bool known;	/* enough searches were made since the leak began */
	double rate;	/* bytes per step, or per second if growth is measured in seconds */
	uint64_t bytes; /* at the last search */
};

/* Returns what the blocks of `count` growth sites of the process's heap pin together. `count` must be at least 1. */
struct tpa_pinned tpa_pinned_by(const struct tpa_process *process, const struct tpa_growth_site *const *sites,
				size_t count);

#endif
