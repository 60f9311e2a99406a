/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_COMMANDS_LINE_OP_NAMES_H
#define TPROF_COMMANDS_LINE_OP_NAMES_H

#include "trace/trace.h"

/*
 * Names ops known only by a function's address (OpenMP regions, -finstrument-functions), and gives torch's ops the
 * names in its schemas. Call it before anything counts by op name. `debug_dir` as in struct tpa_symbols_options.
 */
void tpa_op_names(struct tpa_trace *trace, const char *debug_dir);

#endif
