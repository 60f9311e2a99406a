/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks with a caller that was guessed: no unwind table covered what it called, and the walk went on by the frame
 * pointer. It may be wrong, and callers before it may be missing.
 */
#ifndef TPROF_REPORT_ROWS_GUESSED_H
#define TPROF_REPORT_ROWS_GUESSED_H

#include "model/result/result.h"

struct tpa_guessed {
	uint64_t allocations, samples; /* with such a stack */
	double allocation_share, sample_share;
};

struct tpa_guessed tpa_guessed_find(const struct tpa_process *process);

#endif
