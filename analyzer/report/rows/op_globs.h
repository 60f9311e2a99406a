/* SPDX-License-Identifier: Apache-2.0 */
/* Globs of TPROF_OPS and TPROF_STEP that matched no called function: most likely mistyped. */
#ifndef TPROF_REPORT_ROWS_OP_GLOBS_H
#define TPROF_REPORT_ROWS_OP_GLOBS_H

#include <stdbool.h>

#include "trace/trace.h"

/* The globs of TPROF_OPS that match no op of the trace, as "one, two"; NULL: all match. The caller frees the text. */
char *tpa_op_globs_unmet(const struct tpa_trace *trace);

/* The glob of TPROF_STEP if it matches no op of the trace; else NULL. Points into `trace`. */
const char *tpa_step_glob_unmet(const struct tpa_trace *trace);

#endif
