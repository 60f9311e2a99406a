/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen, dlmopen, dlsym, dlvsym and dlclose: which objects are new, bypass the hooks, or are gone. All but dlclose are
 * pass_on.S: a call from here would be libtprof.so's, and lookups relative to the caller ($ORIGIN, RUNPATH, RTLD_NEXT)
 * would go wrong. Where the caller does not matter (asker.h) the call is made here, and what it loaded is hooked before the
 * program goes on. Behind one that is passed on nothing of ours runs: then it is hooked at the next call to the loader, and a
 * program that loads a library asks it for a symbol.
 */
#include "core/lookup.h"
#include "core/state.h"
#include "hooks/link/bind.h"
#include "hooks/gate/enter.h"
#include "hooks/gate/start.h"
#include "hooks/ops/install.h"
#include "hooks/ops/select.h"
#include "hooks/process/caller_scope.h"
#include "hooks/process/pass_on.h"
#include "hooks/process/find_python.h"
#include "hooks/link/real.h"
#include "stacks/modules.h"

#include <dlfcn.h>

/* Called by pass_on.S, which then jumps to what they return. */
struct tp_asked tp_before_dlopen(const char *file, int flags, uintptr_t asker) __attribute__((visibility("hidden")));
void *tp_before_dlmopen(Lmid_t space, const char *file, int flags) __attribute__((visibility("hidden")));
struct tp_asked tp_before_dlsym(void *handle, const char *name) __attribute__((visibility("hidden")));
struct tp_asked tp_before_dlvsym(void *handle, const char *name, const char *version)
	__attribute__((visibility("hidden")));

/* What was loaded since the last call is hooked. */
static void hook_loaded(void)
{
	tp_ops_install();
	tp_python_find();
}

static void before_load(int flags)
{
	tp_start();
	if (flags & RTLD_DEEPBIND)
		tp_bind_deep();
	if (flags & RTLD_DEEPBIND && tp_state_has_trace())
		__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_DEEPBIND, __ATOMIC_RELAXED);
	hook_loaded();
}

struct tp_asked tp_before_dlopen(const char *file, int flags, uintptr_t asker)
{
	void *found;

	before_load(flags);
	if (!file || !tp_state_has_trace() || tp_asker_matters(file, asker))
		return (struct tp_asked){ (void *)tp_real.dlopen, NULL };
	found = tp_real.dlopen(file, flags);
	if (found) /* else dlerror() has a message for the program */
		hook_loaded();
	return (struct tp_asked){ NULL, found };
}

/*
 * What is loaded into another namespace has a libc of its own there, which nothing of ours stands before. Whether it can be
 * loaded is not known yet; where one is told of that could not, what the trace says of it is too careful, not wrong.
 */
void *tp_before_dlmopen(Lmid_t space, const char *file, int flags)
{
	if (space == LM_ID_BASE) {
		before_load(flags);
		return (void *)tp_real.dlmopen;
	}
	tp_start();
	if (!(flags & RTLD_NOLOAD))
		tp_ops_elsewhere(file ? file : "");
	return (void *)tp_real.dlmopen;
}

/*
 * Of an object that is named the answer does not depend on who asks, nor does it of what all see (RTLD_DEFAULT): it can be
 * asked here, and an op's stub given instead. What only the caller sees is left to the loader. RTLD_NEXT is what other
 * interposers ask with: they get what is behind them, or their calls would come round for ever.
 */
static bool wants_answer(void *handle, const char *name)
{
	struct tp_op_choice choice;

	tp_start();
	hook_loaded();
	return handle != RTLD_NEXT && name && tp_ops_wanted() && tp_ops_choose(name, &choice);
}

static struct tp_asked answered(const char *name, void *found, void *jump)
{
	if (!found)
		return (struct tp_asked){ jump, NULL };
	return (struct tp_asked){ NULL, tp_ops_hooked(name, found) };
}

struct tp_asked tp_before_dlsym(void *handle, const char *name)
{
	void *real = (void *)tp_real.dlsym;

	/* Who asks before all else stands before libc (a sanitizer), and what he defines is not ready to be called. */
	if (!real)
		return (struct tp_asked){ tp_lookup_next("dlsym"), NULL };
	if (!wants_answer(handle, name))
		return (struct tp_asked){ real, NULL };
	return answered(name, tp_real.dlsym(handle, name), real);
}

struct tp_asked tp_before_dlvsym(void *handle, const char *name, const char *version)
{
	void *real = (void *)tp_real.dlvsym;

	if (!real)
		return (struct tp_asked){ tp_lookup_next("dlvsym"), NULL };
	if (!version || !wants_answer(handle, name))
		return (struct tp_asked){ real, NULL };
	return answered(name, tp_real.dlvsym(handle, name, version), real);
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
	if (result == 0) /* else dlerror() has a message for the program, which a call to the loader would take away */
		tp_ops_install();
	return result;
}
