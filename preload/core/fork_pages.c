/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fork_pages.h"

#include "core/maps.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"

#define LINE 4608u /* bytes, a path of the kernel's among them */

/* Static: the user's stack may be small, and the thread's own room is in use. The child has no other thread. */
static char trace[LINE], lines[LINE];

static bool copy(const struct tpc_mapping *mapping, void *unused)
{
	void *from = (void *)mapping->range.low, *to;
	size_t length = mapping->range.high - mapping->range.low;

	(void)unused;
	if (!mapping->shared || strcmp(mapping->path, trace) != 0)
		return false;
	to = tpc_sys_mmap(length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tpc_sys_failed(to))
		return false;
	memcpy(to, from, length);
	if (tpc_sys_failed(tpc_sys_mremap_to(to, length, from)))
		tpc_sys_munmap(to, length);
	return false;
}

void tpc_fork_pages_from_parent(void)
{
	const char *path;

	if (!tpc_header || !tpc_self || tpc_self->busy != TPC_BUSY_RECORD)
		return;
	if (!tpc_maps_find((uintptr_t)tpc_header, lines, sizeof(lines), &path).high || !*path)
		return;
	memcpy(trace, path, strlen(path) + 1);
	tpc_maps_each(lines, sizeof(lines), copy, NULL);
}
