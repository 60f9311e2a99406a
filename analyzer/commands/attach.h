/* SPDX-License-Identifier: Apache-2.0 */
/* tprof attach, tprof detach: record a program that runs already. The launcher calls them, as tprof ctl. */
#ifndef TPROF_COMMANDS_ATTACH_H
#define TPROF_COMMANDS_ATTACH_H

/*
 * argv[0] is "attach" or "detach". The settings are the TPROF_* variables of the environment. Returns the exit status: 0;
 * 1 the process can't be attached to, or not now; 2 wrong usage.
 */
int tpa_attach(int argc, char **argv);

#endif
