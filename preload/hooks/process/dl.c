/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen, dlsym and dlclose: which objects are new, bypass the hooks, or are gone. dlopen and dlsym themselves are
 * pass_on.S: a call from here would be libtprof.so's, and lookups relative to the caller ($ORIGIN, RUNPATH, RTLD_NEXT)
 * would go wrong. As nothing of ours runs behind a dlopen, what it loaded is hooked at the next call to the loader: a
 * program that loads a library asks it for a symbol.
 */
#include "core/state.h"
#include "hooks/enter.h"
#include "hooks/lifecycle.h"
#include "hooks/ops/install.h"
#include "hooks/python/find.h"
#include "hooks/real.h"
#include "stacks/modules.h"

#include <dlfcn.h>

/* Called by pass_on.S, which then jumps to what they return. */
void *tp_before_dlopen(const char *file, int flags) __attribute__((visibility("hidden")));
void *tp_before_dlsym(void *handle, const char *name) __attribute__((visibility("hidden")));

void *tp_before_dlopen(const char *file, int flags)
{
	(void)file;
	tp_start();
	if (flags & RTLD_DEEPBIND && tp_state_has_trace())
		__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_DEEPBIND, __ATOMIC_RELAXED);
	tp_ops_install();
	tp_python_find();
	return (void *)tp_real.dlopen;
}

void *tp_before_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	tp_start();
	tp_ops_install();
	tp_python_find();
	return (void *)tp_real.dlsym;
}

TP_EXPORT int dlclose(void *handle)
{
	int result;
	struct tp_thread *thread;

	tp_start();
	tp_modules_close_begins();
	result = tp_real.dlclose(handle);
	thread = tp_enter_end(__builtin_frame_address(0));
	if (thread)
		thread->busy = TP_BUSY_RECORD;
	tp_modules_close_ends(thread != NULL);
	if (thread)
		tp_leave(thread);
	tp_ops_install();
	return result;
}
