/* SPDX-License-Identifier: Apache-2.0 */
/* chroot(2), pivot_root(2): the trace's directory is kept open before its path leads elsewhere (core/directory.h). */
#ifndef TPROF_HOOKS_PROCESS_ROOT_H
#define TPROF_HOOKS_PROCESS_ROOT_H

/* Before a call that changes the root directory: opens the trace's directory again if the program has closed it. */
void tpc_root_changes(void);

#endif
