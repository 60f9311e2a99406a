/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If a signal handler interrupts a recording and forks, the child may return into that recording and finish it. It must
 * not write to the parent's trace, whose pages they share: the parent, which finishes the same recording, would find
 * the child's record there and write its own after it.
 */
#ifndef TPROF_CORE_FORKED_H
#define TPROF_CORE_FORKED_H

#include "core/base.h"

/* Called in a forked child before it continues: by fork()'s handlers and by the hook of syscall(). */
void tpc_forked(void);

#endif
