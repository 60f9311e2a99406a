/* SPDX-License-Identifier: Apache-2.0 */
#include "core/forked.h"

#include "core/maps.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"

#define LINE 4608u /* bytes, a path of the kernel's among them */

/* Static, because the user's stack may be small and the thread's own buffer is in use. The child has no other thread. */
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

/*
 * Replaces what the child has mapped of its parent's trace by a private copy, if the child returns into a recording.
 * Chunks that wait for a full disk, which are in memory, stay shared.
 */
static void copy_trace(void)
{
	const char *path;

	if (!tpc_header || !tpc_self || tpc_self->busy != TPC_BUSY_RECORD)
		return;
	if (!tpc_maps_find((uintptr_t)tpc_header, lines, sizeof(lines), &path).high || !*path)
		return;
	memcpy(trace, path, strlen(path) + 1);
	tpc_maps_each(lines, sizeof(lines), copy, NULL);
}

/*
 * The child of a paused process has its parent's closed gate, and would not notice that it has no trace. Gives it a
 * private header, with what its start needs of its parent's.
 */
static void leave_gate(void)
{
	uint32_t recording = tpc_load(&tpc_header->recording);
	uint64_t slots = tpc_load(&tpc_header->slots);
	uint32_t pid = tpc_header->pid;

	if (!tpc_header_area_clear())
		return;
	tpc_header->pid = pid;
	tpc_header->recording = recording;
	tpc_header->slots = slots;
}

void tpc_forked(void)
{
	if (tpc_load(&tpc_state.mode) != TPC_MODE_NEW && tpc_state.pid != tpc_sys_getpid())
		memset(&tpc_state_page, 0, sizeof(tpc_state_page));
	if (tpc_state_is_child())
		copy_trace();
	if (tpc_header && tpc_state_is_child() && tpc_gate())
		leave_gate();
}
