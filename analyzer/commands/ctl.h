/* SPDX-License-Identifier: Apache-2.0 */
/* tprof ctl: sends requests to a running program. The launcher calls it; it doesn't share the reports' options. */
#ifndef TPROF_COMMANDS_CTL_H
#define TPROF_COMMANDS_CTL_H

/*
 * argv[0] is "ctl". Returns the exit status: 0; 1 the program has not answered yet; 2 wrong usage; 3 it has no trace.
 */
int tpa_ctl(int argc, char **argv);

#endif
