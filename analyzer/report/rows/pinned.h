/* SPDX-License-Identifier: Apache-2.0 */
/* Free memory that the blocks of a leak keep from being used or returned: model/heap/holes.h. */
#ifndef TPROF_REPORT_ROWS_PINNED_H
#define TPROF_REPORT_ROWS_PINNED_H

#include "model/result/result.h"

struct tpa_pinned {
	bool known;	/* there were enough searches since the leak began */
	double rate;	/* bytes a step or second */
	uint64_t bytes; /* at the last search */
};

/* By the blocks of `count` growth sites of the process's heap together. */
struct tpa_pinned tpa_pinned_by(const struct tpa_process *process, const struct tpa_growth_site *const *sites,
				size_t count);

#endif
