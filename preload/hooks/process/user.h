/* SPDX-License-Identifier: Apache-2.0 */
/* setuid(2) and its kin: a fork creates its trace while it still may. */
#ifndef TPROF_HOOKS_PROCESS_USER_H
#define TPROF_HOOKS_PROCESS_USER_H

#include "core/base.h"

/* Does this system call change users or groups? */
bool tpc_user_is_changed_by(long number);

/* Before a call that changes them: starts the recording of a fork of root's that has none yet. Keeps errno. */
void tpc_user_changes(void);

#endif
