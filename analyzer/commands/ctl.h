/* SPDX-License-Identifier: Apache-2.0 */
/* tprof ctl: what is asked of a running program. The launcher calls it; its arguments are no report's. */
#ifndef TPROF_COMMANDS_CTL_H
#define TPROF_COMMANDS_CTL_H

/* argv[0] is "ctl". Returns the exit status: 0; 1 the program has not answered yet; 2 wrong usage; 3 it has no trace. */
int tpa_ctl(int argc, char **argv);

#endif
