/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fork_pages.h"

#include "core/maps.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"

#define LINE 4608u /* bytes, a path of the kernel's among them */

/* Static: the user's stack may be small, and the thread's own room is in use. The child has no other thread. */
static char trace[LINE], lines[LINE];

static bool copy(const struct tp_mapping *mapping, void *unused)
{
	void *from = (void *)mapping->range.low, *to;
	size_t length = mapping->range.high - mapping->range.low;

	(void)unused;
	if (!mapping->shared || strcmp(mapping->path, trace) != 0)
		return false;
	to = tp_sys_mmap(length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tp_sys_failed(to))
		return false;
	memcpy(to, from, length);
	if (tp_sys_failed(tp_sys_mremap_to(to, length, from)))
		tp_sys_munmap(to, length);
	return false;
}

void tp_fork_pages_from_parent(void)
{
	const char *path;

	if (!tp_header || !tp_self || tp_self->busy != TP_BUSY_RECORD)
		return;
	if (!tp_maps_find((uintptr_t)tp_header, lines, sizeof(lines), &path).high || !*path)
		return;
	memcpy(trace, path, strlen(path) + 1);
	tp_maps_each(lines, sizeof(lines), copy, NULL);
}
