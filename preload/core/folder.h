/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the folder of a ring: `tprof-analyze fold`, which lies beside libtprof.so. The program does not notice: no wait() of its
 * own sees the process, which has a session of its own, none of the program's descriptors and no LD_PRELOAD.
 */
#ifndef TPROF_CORE_FOLDER_H
#define TPROF_CORE_FOLDER_H

#include "core/base.h"

/* Starts it if it has not been seen for a while, at most once a second. Any thread. */
TPC_SLOW void tpc_folder_ask(void);

#endif
