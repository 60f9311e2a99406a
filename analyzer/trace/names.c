/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/events.h"

const char *tpa_fn_name(unsigned fn)
{
	static const char *const names[] = {
		[TPROF_FN_MALLOC] = "malloc",
		[TPROF_FN_CALLOC] = "calloc",
		[TPROF_FN_REALLOC] = "realloc",
		[TPROF_FN_REALLOCARRAY] = "reallocarray",
		[TPROF_FN_MEMALIGN] = "memalign",
		[TPROF_FN_POSIX_MEMALIGN] = "posix_memalign",
		[TPROF_FN_ALIGNED_ALLOC] = "aligned_alloc",
		[TPROF_FN_VALLOC] = "valloc",
		[TPROF_FN_PVALLOC] = "pvalloc",
		[TPROF_FN_NEW] = "new",
		[TPROF_FN_NEW_ARRAY] = "new[]",
		[TPROF_FN_MALLOCX] = "mallocx",
		[TPROF_FN_RALLOCX] = "rallocx",
		[TPROF_FN_XALLOCX] = "xallocx",
		[TPROF_FN_PYTHON_MALLOC] = "python malloc",
		[TPROF_FN_PYTHON_CALLOC] = "python calloc",
		[TPROF_FN_PYTHON_REALLOC] = "python realloc",
		[TPROF_FN_FREE] = "free",
		[TPROF_FN_CFREE] = "cfree",
		[TPROF_FN_FREE_SIZED] = "free_sized",
		[TPROF_FN_FREE_ALIGNED_SIZED] = "free_aligned_sized",
		[TPROF_FN_DELETE] = "delete",
		[TPROF_FN_DELETE_ARRAY] = "delete[]",
		[TPROF_FN_DALLOCX] = "dallocx",
		[TPROF_FN_SDALLOCX] = "sdallocx",
		[TPROF_FN_PYTHON_FREE] = "python free",
	};

	return fn < sizeof(names) / sizeof(*names) && names[fn] ? names[fn] : "?";
}

const char *tpa_hooks_name(unsigned state)
{
	static const char *const names[TPROF_HOOKS_STATES] = {
		[TPROF_HOOKS_DONE] = "hooked",
		[TPROF_HOOKS_PROTECTED] = "its pointers could not be made writable",
		[TPROF_HOOKS_UNTOUCHABLE] = "functions that return twice, unwind or load",
		[TPROF_HOOKS_UNBOUND] = "functions that were not found",
		[TPROF_HOOKS_FULL] = "no room for stubs",
		[TPROF_HOOKS_UNREACHED] = "exported, but reached through no pointer",
		[TPROF_HOOKS_ELSEWHERE] =
			"loaded by dlmopen, in a namespace of its own: its allocations bypass the hooks",
	};

	return state < TPROF_HOOKS_STATES ? names[state] : "?";
}
