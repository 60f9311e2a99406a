/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/pending.h"

#define PATCHES_MAX 8192u

static union {
	struct tprof_patches patches;
	char bytes[sizeof(struct tprof_patches) + PATCHES_MAX * sizeof(struct tprof_patch)];
} pending;
static struct {
	void *function;
	void (*refused)(const void *function);
} owners[PATCHES_MAX];
static bool is_on;

void tpc_pending_begin(void)
{
	tpc_pending_withdraw();
	is_on = true;
}

void tpc_pending_end(void)
{
	is_on = false;
}

bool tpc_pending_is_on(void)
{
	return is_on;
}

bool tpc_pending_add(uintptr_t at, const uint8_t *bytes, uint32_t count, void *function,
		     void (*refused)(const void *function))
{
	struct tprof_patch *patch = &pending.patches.list[pending.patches.count];

	if (pending.patches.count == PATCHES_MAX || count > TPROF_PATCH_BYTES)
		return false;
	patch->at = at;
	patch->count = (uint8_t)count;
	patch->wanted = 1;
	memcpy(patch->bytes, bytes, count);
	memcpy(patch->was, (const void *)at, count);
	owners[pending.patches.count].function = function;
	owners[pending.patches.count].refused = refused;
	pending.patches.count++;
	return true;
}

bool tpc_pending_again(uintptr_t function)
{
	for (uint64_t i = 0; i < pending.patches.count; i++) {
		if ((uintptr_t)owners[i].function != function)
			continue;
		pending.patches.list[i].wanted = 1;
		return true;
	}
	return false;
}

void tpc_pending_refuse(uintptr_t at)
{
	for (uint64_t i = 0; i < pending.patches.count; i++) {
		if (pending.patches.list[i].at != at || !pending.patches.list[i].wanted)
			continue;
		pending.patches.list[i].wanted = 0;
		owners[i].refused(owners[i].function);
	}
}

void tpc_pending_withdraw(void)
{
	for (uint64_t i = 0; i < pending.patches.count; i++)
		pending.patches.list[i].wanted = 0;
}

const struct tprof_patches *tpc_pending_all(void)
{
	return &pending.patches;
}
