/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_HOOKS_OPS_INSTALL_H
#define TPROF_HOOKS_OPS_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Hooks the ops that TPROF_OPS names, and functions that may wait, in all objects that were loaded since the last time.
 * At start and at calls to the loader, whose lock it takes; never in a hook of an allocation.
 */
void tpc_ops_install(void);

/*
 * Takes back what it hooked in slots: they lead to the functions again. While recording is paused. False: another
 * thread forks or loads an object; try again.
 */
bool tpc_ops_uninstall(void);

/*
 * Recording continues: measures what ops cost, if recording was off from the start. The thread is in no hook; `frame`
 * is the exported function's __builtin_frame_address(0).
 */
void tpc_ops_resumed(const void *frame);

/* dlmopen() loads that object into another namespace than the program's. Called first at calls to the loader. */
void tpc_ops_elsewhere(const char *file);

/* In a forked child, which has its parent's hooks: describes them in its own trace. */
void tpc_ops_tell(void);

/*
 * What a program gets that looks up a function by name: its stub if it is an op, else `target`, the function itself.
 * Never in a hook of an allocation.
 */
void *tpc_ops_hooked(const char *symbol, void *target);

#endif
