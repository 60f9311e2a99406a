/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen, dlmopen, dlsym, dlvsym and dlclose: which objects are new, bypass the hooks, or are gone. All but dlclose are
 * pass_on.S: a call from here would be libtprof.so's, and lookups relative to the caller ($ORIGIN, RUNPATH, RTLD_NEXT)
 * would go wrong. If the caller does not matter (caller_scope.h), the call is made here, and what it loaded is hooked
 * before the program continues. After a call that is passed on, nothing of ours runs: then objects are hooked at the
 * next call to the loader; a program that loads a library looks up a symbol in it.
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

/* Called by pass_on.S, which then jumps to what these return. */
struct tpc_asked tpc_before_dlopen(const char *file, int flags, uintptr_t asker) __attribute__((visibility("hidden")));
void *tpc_before_dlmopen(Lmid_t space, const char *file, int flags) __attribute__((visibility("hidden")));
struct tpc_asked tpc_before_dlsym(void *handle, const char *name) __attribute__((visibility("hidden")));
struct tpc_asked tpc_before_dlvsym(void *handle, const char *name, const char *version)
	__attribute__((visibility("hidden")));

/* Hooks what was loaded since the last call. */
static void hook_loaded(void)
{
	tpc_ops_install();
	tpc_python_find();
}

static void before_load(int flags)
{
	tpc_start();
	if (flags & RTLD_DEEPBIND)
		tpc_bind_deep();
	if (flags & RTLD_DEEPBIND && tpc_state_has_trace())
		tpc_set_bits(&tpc_header->flags, TPROF_FLAG_DEEPBIND);
	hook_loaded();
}

struct tpc_asked tpc_before_dlopen(const char *file, int flags, uintptr_t asker)
{
	void *found;

	before_load(flags);
	if (!file || !tpc_state_has_trace() || tpc_asker_matters(file, asker))
		return (struct tpc_asked){ (void *)tpc_real.dlopen, NULL };
	found = tpc_real.dlopen(file, flags);
	if (found) /* else dlerror() has a message for the program */
		hook_loaded();
	return (struct tpc_asked){ NULL, found };
}

/*
 * An object in another namespace gets a libc of its own, which nothing of ours precedes. It is unknown yet whether the
 * object can be loaded; if it can't, the trace is too cautious, not wrong.
 */
void *tpc_before_dlmopen(Lmid_t space, const char *file, int flags)
{
	if (space == LM_ID_BASE) {
		before_load(flags);
		return (void *)tpc_real.dlmopen;
	}
	tpc_start();
	if (!(flags & RTLD_NOLOAD))
		tpc_ops_elsewhere(file ? file : "");
	return (void *)tpc_real.dlmopen;
}

/*
 * If an object is named, or for what all objects see (RTLD_DEFAULT), the answer does not depend on the caller: it can
 * be looked up here, and an op's stub returned instead. What only the caller sees is left to the loader. Other
 * interposers use RTLD_NEXT: they get what follows them, or their calls would go in circles.
 */
static bool wants_answer(void *handle, const char *name)
{
	struct tpc_op_choice choice;

	tpc_start();
	hook_loaded();
	return handle != RTLD_NEXT && name && tpc_ops_wanted() && tpc_ops_choose(name, &choice);
}

static struct tpc_asked answered(const char *name, void *found, void *jump)
{
	if (!found)
		return (struct tpc_asked){ jump, NULL };
	return (struct tpc_asked){ NULL, tpc_ops_hooked(name, found) };
}

struct tpc_asked tpc_before_dlsym(void *handle, const char *name)
{
	void *real = (void *)tpc_real.dlsym;

	/* A caller this early precedes libc (a sanitizer), and its own definitions are not ready to be called. */
	if (!real)
		return (struct tpc_asked){ tpc_lookup_next("dlsym"), NULL };
	if (!wants_answer(handle, name))
		return (struct tpc_asked){ real, NULL };
	return answered(name, tpc_real.dlsym(handle, name), real);
}

struct tpc_asked tpc_before_dlvsym(void *handle, const char *name, const char *version)
{
	void *real = (void *)tpc_real.dlvsym;

	if (!real)
		return (struct tpc_asked){ tpc_lookup_next("dlvsym"), NULL };
	if (!version || !wants_answer(handle, name))
		return (struct tpc_asked){ real, NULL };
	return answered(name, tpc_real.dlvsym(handle, name, version), real);
}

TPC_EXPORT int dlclose(void *handle)
{
	int result;
	struct tpc_thread *thread;

	tpc_start();
	tpc_modules_close_begins();
	result = tpc_real.dlclose(handle);
	thread = tpc_enter_end(__builtin_frame_address(0));
	if (thread)
		thread->busy = TPC_BUSY_RECORD;
	tpc_modules_close_ends(thread != NULL);
	if (thread)
		tpc_leave(thread);
	if (result == 0) /* else dlerror() has a message for the program, which a call to the loader would take away */
		tpc_ops_install();
	return result;
}
