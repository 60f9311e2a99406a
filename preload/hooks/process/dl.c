/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen and dlclose: which objects bypass the hooks, and which are gone. dlopen itself is dlopen.S: a call from here
 * would be libtprof.so's, and lookups relative to the caller ($ORIGIN, RUNPATH, namespaces) would go wrong.
 */
#include "core/state.h"
#include "hooks/enter.h"
#include "hooks/lifecycle.h"
#include "hooks/real.h"
#include "stacks/modules.h"

#include <dlfcn.h>

/* Called by dlopen.S, which then jumps to what this returns. */
void *tp_before_dlopen(const char *file, int flags) __attribute__((visibility("hidden")));

void *tp_before_dlopen(const char *file, int flags)
{
	(void)file;
	tp_start();
	if (flags & RTLD_DEEPBIND && tp_load(&tp_state.mode) == TP_MODE_ON)
		__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_DEEPBIND, __ATOMIC_RELAXED);
	return (void *)tp_real.dlopen;
}

TP_EXPORT int dlclose(void *handle)
{
	int result;
	struct tp_thread *thread;

	tp_start();
	result = tp_real.dlclose(handle);
	thread = tp_enter(__builtin_frame_address(0));
	if (thread) {
		thread->busy = TP_BUSY_RECORD;
		tp_modules_check();
		tp_leave(thread);
	}
	return result;
}
