/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/python_arrays.h"

#include "core/config.h"
#include "hooks/memory/pool.h"

#define FRAME __builtin_frame_address(0)
#define NUMPY 389047u /* the domain that numpy has at tracemalloc (NPY_TRACE_DOMAIN, numpy/ndarraytypes.h) */

typedef int track(unsigned int domain, uintptr_t block, size_t size);
typedef int untrack(unsigned int domain, uintptr_t block);

static TPC_SHARED(track *) real_track;
static TPC_SHARED(untrack *) real_untrack;

/* numpy grew or shrank the block: malloc's realloc has ended it. */
static int python_track(unsigned int domain, uintptr_t block, size_t size)
{
	if (domain == NUMPY)
		tpc_pool_alloc(FRAME, (const void *)block, (const void *)block, size);
	return tpc_load(&real_track)(domain, block, size);
}

static int python_untrack(unsigned int domain, uintptr_t block)
{
	if (domain == NUMPY)
		tpc_pool_free(FRAME, (const void *)block);
	return tpc_load(&real_untrack)(domain, block);
}

bool tpc_python_array_symbol(const char *symbol)
{
	return symbol[0] == 'P' && tpc_config.python == TPC_PYTHON_ALLOC &&
	       (strcmp(symbol, "PyTraceMalloc_Track") == 0 || strcmp(symbol, "PyTraceMalloc_Untrack") == 0);
}

/* For one interpreter only, as with frames: calls of a second one are left alone. */
void *tpc_python_array_hook(const char *symbol, void *target)
{
	bool ends = strcmp(symbol, "PyTraceMalloc_Untrack") == 0;
	void *was = ends ? (void *)(uintptr_t)tpc_load(&real_untrack) : (void *)(uintptr_t)tpc_load(&real_track);

	if (was && was != target)
		return NULL;
	if (ends)
		tpc_store_release(&real_untrack, (untrack *)(uintptr_t)target); /* pairs with a call through the slot */
	else
		tpc_store_release(&real_track, (track *)(uintptr_t)target); /* likewise */
	return ends ? (void *)(uintptr_t)python_untrack : (void *)(uintptr_t)python_track;
}

bool tpc_python_array_is_hook(const void *address)
{
	return address == (void *)(uintptr_t)python_track || address == (void *)(uintptr_t)python_untrack;
}
