/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that a signal's handler forked may go back into a recording of its parent's, and finish it. What it writes would be
 * in the parent's trace, whose pages they share: the parent, which goes back into the same recording, would find the record
 * there, and put it behind that again.
 */
#ifndef TPROF_CORE_FORKED_H
#define TPROF_CORE_FORKED_H

#include "core/base.h"

/* In a forked child, before it goes on: by fork()'s handlers and the hook of syscall(). */
void tpc_forked(void);

#endif
