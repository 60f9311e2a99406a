/* SPDX-License-Identifier: Apache-2.0 */
/* tprof-analyze fold PID FILE: the folder of a ring. libtprof.so and tprof start it; it is not for users. */
#ifndef TPROF_COMMANDS_FOLD_H
#define TPROF_COMMANDS_FOLD_H

/* argv[0] is "fold". Returns when the process has ended. 0; 2 wrong usage, or the ring has a folder; 3 it can't be read. */
int tpa_fold(int argc, char **argv);

#endif
