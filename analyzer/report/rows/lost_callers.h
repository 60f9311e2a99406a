/* SPDX-License-Identifier: Apache-2.0 */
/* Modules with code whose unwind tables tprof does not read: callers are missing from the stacks that go through it. */
#ifndef TPROF_REPORT_LOST_CALLERS_H
#define TPROF_REPORT_LOST_CALLERS_H

#include "model/result/result.h"
#include "symbols/cfi.h"

struct tp_lost_callers {
	const struct tp_module *module;
	enum tp_cfi_kind tables;
	uint64_t allocations, samples; /* whose stacks lack callers of the module's functions */
	double allocation_share, sample_share;
};

struct tp_lost_callers_list {
	struct tp_lost_callers *list;
	size_t count;
};

/* The modules that affect at least 1% of the allocations or of the CPU samples. Out of memory: none. */
void tp_lost_callers_find(struct tp_lost_callers_list *found, const struct tp_process *process);
void tp_lost_callers_free(struct tp_lost_callers_list *found);

/* In words, with the module's name. The caller frees it; NULL: memory is out. */
char *tp_lost_callers_text(const struct tp_lost_callers *lost);

#endif
