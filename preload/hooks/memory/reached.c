/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/reached.h"

#include "core/lookup.h"
#include "core/process.h"
#include "core/state.h"
#include "hooks/gate/enter.h"
#include "hooks/gate/start.h"
#include "hooks/link/real.h"

#include <dlfcn.h>

tpc_shared_bool tpc_malloc_probing;

/* This may be the process's very first call. */
bool tpc_malloc_is_second(void)
{
	if (tpc_load(&tpc_state.mode) == TPC_MODE_NEW)
		tpc_start();
	return tpc_real.first_free != NULL;
}

/*
 * Addresses don't tell (in a non-PIE program a PLT entry stands for the function), so the program's malloc is called
 * once.
 */
static bool reaches_hook(void *(*first_malloc)(size_t))
{
	void (*first_free)(void *) = (void (*)(void *))tpc_real.dlsym(RTLD_DEFAULT, "free");
	struct tpc_thread *thread = tpc_enter(__builtin_frame_address(0)); /* busy: the call is no event */
	bool reached;
	void *p;

	if (!thread || !first_free)
		return true;
	tpc_store(&tpc_malloc_probing, true);
	p = first_malloc(1);
	tpc_store(&tpc_malloc_probing, false);
	reached = tpc_bootstrap_holds(p);
	first_free(p);
	tpc_leave(thread);
	return reached;
}

void tpc_malloc_check(void)
{
	void *first = tpc_real.dlsym(RTLD_DEFAULT, "malloc");
	const char *path = tpc_real_find_allocator();
	Dl_info info;

	if (!tpc_header)
		return;
	if (!tpc_lookup_is_last() && !reaches_hook((void *(*)(size_t))first) && dladdr(first, &info) &&
	    info.dli_fname) {
		path = info.dli_fname;
		tpc_set_bits(&tpc_header->flags, TPROF_FLAG_FOREIGN_MALLOC);
	}
	tpc_describe_text(tpc_header, TPROF_TEXT_MALLOC, path, strlen(path));
}
