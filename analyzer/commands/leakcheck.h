/* SPDX-License-Identifier: Apache-2.0 */
/* A search of a running process for blocks that nothing points to; part of tprof ctl. */
#ifndef TPROF_COMMANDS_LEAKCHECK_H
#define TPROF_COMMANDS_LEAKCHECK_H

#include "trace/control.h"

/*
 * Asks for a fork that stands still, searches it, does so again, and appends what both agree on to the trace. `taken`: the
 * process waits at its end, and has made its fork; then one search is enough, and nothing is printed. Returns ctl's exit
 * status.
 */
int tpa_leakcheck(struct tpa_control *control, bool taken);

/* The same for what holds the blocks, by one search. `taken`: of a fork that is there already, while the process runs on. */
int tpa_holders_check(struct tpa_control *control, bool taken);

#endif
