/* SPDX-License-Identifier: Apache-2.0 */
/* Globs of TPROF_OPS and TPROF_STEP that no function met that was called: mistyped, most likely. */
#ifndef TPROF_REPORT_ROWS_OP_GLOBS_H
#define TPROF_REPORT_ROWS_OP_GLOBS_H

#include <stdbool.h>

#include "trace/trace.h"

/* The globs of TPROF_OPS by which no op of the trace is called, as "one, two"; NULL: there are none. The caller frees it. */
char *tpa_op_globs_unmet(const struct tpa_trace *trace);

/* The glob of TPROF_STEP, if no op of the trace is called so; else NULL. */
const char *tpa_step_glob_unmet(const struct tpa_trace *trace);

#endif
