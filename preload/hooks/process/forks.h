/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program forks: the stack of its call of fork(), for the header of the child's trace. */
#ifndef TPROF_PROCESS_FORKS_H
#define TPROF_PROCESS_FORKS_H

#include "core/base.h"

void tpc_forks_watch(void);

/*
 * In a forked child, whose only thread calls this: the node of the stack at which its parent called fork(), in the parent's trace;
 * TPROF_NODE_NONE: it is not known, as for a fork by syscall(). Later calls return TPROF_NODE_NONE, until the child forks itself.
 */
uint32_t tpc_forks_take(void);

#endif
