/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differences between two sides as JSON. Memory of one run per side is counted exactly: it differs or not. All
 * else is tested.
 */
#ifndef TPROF_REPORT_JSON_DIFF_JSON_H
#define TPROF_REPORT_JSON_DIFF_JSON_H

#include "report/rows/diff.h"
#include "report/json/json.h"

struct tpa_diff_choice {
	uint64_t top; /* first rows of each list to include; 0: all */
	bool telling; /* omit rows that are alike or noise */
};

/* Call it after tpa_diff_test(). The counts include all rows. Returns a new reference. */
json_t *tpa_diff_json(const struct tpa_diff *diff, struct tpa_diff_choice choice);

#endif
