/* SPDX-License-Identifier: Apache-2.0 */
/* Two sides' differences as JSON. Memory of one run a side is counted: it differs or not. All else is tested. */
#ifndef TPROF_REPORT_JSON_DIFF_JSON_H
#define TPROF_REPORT_JSON_DIFF_JSON_H

#include "report/rows/diff.h"
#include "report/json/json.h"

struct tpa_diff_choice {
	uint64_t top; /* the first rows of each list; 0: all */
	bool telling; /* without those that are as good as the same, or noise */
};

/* After tpa_diff_test(). All rows are among its counts. A new reference. */
json_t *tpa_diff_json(const struct tpa_diff *diff, struct tpa_diff_choice choice);

#endif
