/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that a signal's handler forked may go back into a recording of its parent's, and finish it. What it writes would be
 * in the parent's trace, whose pages they share: the parent, which goes back into the same recording, would find the record
 * there, and put it behind that again.
 */
#ifndef TPROF_CORE_FORK_PAGES_H
#define TPROF_CORE_FORK_PAGES_H

#include "core/base.h"

/*
 * In a forked child, before it goes on: what it has mapped of its parent's trace becomes its own copy, if it has a recording to
 * go back into. Chunks of a full disk, which are in memory, stay shared.
 */
TPC_SLOW void tpc_fork_pages_from_parent(void);

#endif
