/* SPDX-License-Identifier: Apache-2.0 */
/* Modules with code whose unwind tables tprof does not read: callers are missing from stacks that pass through it. */
#ifndef TPROF_REPORT_ROWS_LOST_CALLERS_H
#define TPROF_REPORT_ROWS_LOST_CALLERS_H

#include "model/result/result.h"
#include "symbols/cfi.h"

struct tpa_lost_callers {
	const struct tpa_module *module;
	enum tpa_cfi_kind tables;
	uint64_t allocations, samples; /* whose stacks lack the callers of the module's functions */
	double allocation_share, sample_share;
};

struct tpa_lost_callers_list {
	struct tpa_lost_callers *list;
	size_t count;
};

/* Finds the modules that affect at least 1% of the allocations or of the CPU samples. */
void tpa_lost_callers_find(struct tpa_lost_callers_list *found, const struct tpa_process *process);
void tpa_lost_callers_free(struct tpa_lost_callers_list *found);

/* 0: of nothing. */
double tpa_part_of(uint64_t part, uint64_t all);

/* Describes the loss in words, with the module's name. The caller frees the text. */
char *tpa_lost_callers_text(const struct tpa_lost_callers *lost);

#endif
