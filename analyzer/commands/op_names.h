/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_COMMANDS_OP_NAMES_H
#define TPROF_COMMANDS_OP_NAMES_H

#include "trace/trace.h"

/*
 * Names the ops that are known by a function's address alone (regions of OpenMP, -finstrument-functions), and torch's as
 * its schemas have them, before anything counts by their names. `debug_dir` as in struct tpa_symbols_options.
 */
void tpa_op_names(struct tpa_trace *trace, const char *debug_dir);

#endif
