/* SPDX-License-Identifier: Apache-2.0 */
/* Two sides' differences as JSON. Memory of one run a side is counted: it differs or not. All else is tested. */
#ifndef TPROF_REPORT_DIFF_JSON_H
#define TPROF_REPORT_DIFF_JSON_H

#include "report/diff.h"
#include "report/json.h"

/* After tp_diff_test(). The first `top` rows of each list (0: all). A new reference; NULL: no memory. */
json_t *tp_diff_json(const struct tp_diff *diff, uint64_t top);

#endif
