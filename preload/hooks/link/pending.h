/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of code that `tprof attach` is to write (tprof/patches.h). They are kept for the detach, and the next attach. */
#ifndef TPROF_LINK_PENDING_H
#define TPROF_LINK_PENDING_H

#include "core/base.h"

#include <tprof/patches.h>

/* Between these calls patches are to be left to `tprof attach`. At the first, none is wanted. */
void tpc_pending_begin(void);
void tpc_pending_end(void);
bool tpc_pending_is_on(void);

/* `refused` is called if it can't be written after all. False: there is no room. */
bool tpc_pending_add(uintptr_t at, const uint8_t *bytes, uint32_t count, void *function,
		     void (*refused)(const void *function));

/* The function, whose first instructions were patched before, is to be patched again. False: it was not patched so. */
bool tpc_pending_again(uintptr_t function);

/* A thread is always there: the function is refused. */
void tpc_pending_refuse(uintptr_t at);

/* After a detach: what was there is to be there. */
void tpc_pending_withdraw(void);

/* All, wanted or not. Never NULL; its memory stays. */
const struct tprof_patches *tpc_pending_all(void);

#endif
