/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/moved.h"

#define AREAS_MAX 256u

static struct area {
	uintptr_t start;
	size_t bytes;
	const struct tpc_moved *moved;
} areas[AREAS_MAX];
static tpc_shared_u32 area_count;

bool tpc_moved_add(uintptr_t area, uint32_t detours, const struct tpc_moved *moved)
{
	uint32_t count = tpc_load(&area_count);

	if (count == AREAS_MAX)
		return false;
	areas[count] = (struct area){ area, detours * TPC_CODE_MOVED_MAX, moved };
	tpc_store_release(&area_count, count + 1); /* pairs with tpc_moved_original(): the area is there */
	return true;
}

static uintptr_t original(const struct tpc_moved *moved, size_t offset)
{
	uint32_t i = moved->count;

	while (i > 0 && moved->places[i - 1].detour > offset)
		i--;
	if (i == 0 || moved->places[i - 1].function == TPC_CODE_NOWHERE)
		return 0;
	return moved->function + moved->places[i - 1].function;
}

uintptr_t tpc_moved_original(uintptr_t pc)
{
	/* Acquire: pairs with tpc_moved_add(). */
	for (uint32_t i = 0, count = tpc_load_acquire(&area_count); i < count; i++) {
		size_t offset = pc - areas[i].start;
		uintptr_t found;

		if (offset >= areas[i].bytes)
			continue;
		found = original(&areas[i].moved[offset / TPC_CODE_MOVED_MAX], offset % TPC_CODE_MOVED_MAX);
		return found ? found : pc;
	}
	return pc;
}
