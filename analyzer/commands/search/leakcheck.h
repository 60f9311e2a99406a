/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a running process for blocks that nothing points to; part of tprof ctl. */
#ifndef TPROF_COMMANDS_SEARCH_LEAKCHECK_H
#define TPROF_COMMANDS_SEARCH_LEAKCHECK_H

#include "trace/control.h"

/*
 * Requests a fork that stands still, searches it, repeats that, and appends the blocks that both searches found to the
 * trace. `taken`: the process waits at its end and has forked already; then one search is enough, and nothing is
 * printed. Returns ctl's exit status.
 */
int tpa_leakcheck(struct tpa_control *control, bool taken);

/* The same for the holders of blocks, with one search. `taken`: the fork exists already, while the process runs on. */
int tpa_holders_check(struct tpa_control *control, bool taken);

#endif
