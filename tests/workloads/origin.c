/* SPDX-License-Identifier: Apache-2.0 */
/* A library with RUNPATH $ORIGIN/nested: dlopen finds libplugin_b.so there only when it sees who called it. */
#include <dlfcn.h>
#include <stdlib.h>

void *origin_open(size_t size);

void *origin_open(size_t size)
{
	void *handle = dlopen("libplugin_b.so", RTLD_NOW);

	(void)size;
	if (!handle)
		abort();
	return handle;
}
