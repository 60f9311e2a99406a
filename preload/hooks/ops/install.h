/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_HOOKS_OPS_INSTALL_H
#define TPROF_HOOKS_OPS_INSTALL_H

/*
 * Hooks the ops that TPROF_OPS names in all objects that were loaded since the last time. At start, and at calls to the
 * loader, whose lock it takes; never in a hook of an allocation.
 */
void tp_ops_install(void);

#endif
