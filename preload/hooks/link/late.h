/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtprof.so in a program that was started without it (`tprof attach`). The loader has bound the program's calls to
 * libc then, and the functions that libtprof.so interposes are hooked as ops are: where they are called.
 */
#ifndef TPROF_LINK_LATE_H
#define TPROF_LINK_LATE_H

#include "hooks/link/slots.h"

/* From now on slots are to be hooked. Once, before tpc_real_find(). */
void tpc_late_begin(void);

/* Was it loaded late, and are slots hooked at present? */
bool tpc_late_is_on(void);
void tpc_late_set(bool on);

/*
 * The function of libtprof.so that a slot shall point to instead. NULL: it leads elsewhere than to the function that
 * this one calls, or to none that is interposed. With the loader's lock.
 */
void *tpc_late_hook(const struct tpc_slot *slot);

/* Is it a function that tpc_late_hook() gave for that symbol? */
bool tpc_late_is_hook(const struct tpc_slot *slot);

/* The function that a hooked slot of that symbol pointed to. */
void *tpc_late_behind(const struct tpc_slot *slot);

#endif
