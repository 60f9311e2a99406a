/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions hooked where they are called: the pointers (GOT slots) through which loaded objects reach them are made to
 * point to a hook. For functions that libtprof.so must not define itself, because programs ask whether they are there.
 */
#ifndef TPROF_HOOKS_SLOTS_H
#define TPROF_HOOKS_SLOTS_H

#include "core/base.h"

struct tp_slot_hook {
	const char *name;
	void *hook;
};

/*
 * Redirects every slot of every object loaded now (but libtprof.so's own) that is bound to one of the names. Returns how
 * many. Takes the loader's lock: at start only, never in a hook.
 */
size_t tp_slots_redirect(const struct tp_slot_hook *hooks, size_t count);

#endif
