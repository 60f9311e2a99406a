/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dladdr and dladdr1: if a program takes a hooked function's address it gets the stub, which is in no object. It is
 * told about the function instead. Both answer the same for every caller.
 */
#include "core/lookup.h"
#include "hooks/ops/stubs.h"
#include "hooks/link/real.h"
#include "hooks/leakcheck/stubs.h"

#include <dlfcn.h>

/* What the program would find there without us. */
static const void *behind(const void *address)
{
	const void *function = tpc_op_is_stub(address) ? tpc_op_of_stub(address)->address : address;

	if (tpc_wait_is_stub(function))
		function = tpc_wait_function(function);
	return function ? function : address;
}

/* For this program the function is at its stub. */
static int told(int found, const void *address, const void *function, Dl_info *info)
{
	if (found && function != address && info->dli_saddr == function)
		info->dli_saddr = (void *)(uintptr_t)address;
	return found;
}

TPC_EXPORT int dladdr(const void *address, Dl_info *info)
{
	int (*real)(const void *, Dl_info *) = tpc_real.dladdr;
	const void *function = behind(address);

	if (!real) { /* a library that precedes libc may call this first */
		*(void **)&real = tpc_lookup_next("dladdr");
		if (!real)
			return 0;
	}
	return told(real(function, info), address, function, info);
}

TPC_EXPORT int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
	int (*real)(const void *, Dl_info *, void **, int) = tpc_real.dladdr1;
	const void *function = behind(address);

	if (!real) {
		*(void **)&real = tpc_lookup_next("dladdr1");
		if (!real)
			return 0;
	}
	return told(real(function, info, extra, flags), address, function, info);
}
