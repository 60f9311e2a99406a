/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/reached.h"

#include "core/process.h"
#include "core/state.h"
#include "hooks/gate/enter.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"

#include <dlfcn.h>

bool tp_malloc_probing;

/* It may be the process's very first call. */
bool tp_malloc_is_second(void)
{
	if (tp_load(&tp_state.mode) == TP_MODE_NEW)
		tp_start();
	return tp_real.first_free != NULL;
}

/* Addresses don't tell (a non-PIE program's PLT stands for the function), so the program's malloc is called once. */
static bool reaches_hook(void *(*first_malloc)(size_t))
{
	void (*first_free)(void *) = (void (*)(void *))tp_real.dlsym(RTLD_DEFAULT, "free");
	struct tp_thread *thread = tp_enter(__builtin_frame_address(0)); /* busy: the call is no event */
	bool reached;
	void *p;

	if (!thread || !first_free)
		return true;
	tp_malloc_probing = true;
	p = first_malloc(1);
	tp_malloc_probing = false;
	reached = tp_bootstrap_holds(p);
	first_free(p);
	tp_leave(thread);
	return reached;
}

void tp_malloc_check(void)
{
	void *first = tp_real.dlsym(RTLD_DEFAULT, "malloc");
	const char *path = tp_real_find_allocator();
	Dl_info info;

	if (!tp_header)
		return;
	if (!reaches_hook((void *(*)(size_t))first) && dladdr(first, &info) && info.dli_fname) {
		path = info.dli_fname;
		__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_FOREIGN_MALLOC, __ATOMIC_RELAXED);
	}
	tp_describe_text(tp_header, TPROF_TEXT_MALLOC, path, strlen(path));
}
