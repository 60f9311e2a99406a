/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/near.h"

#include "core/maps.h"
#include "core/sys.h"
#include "core/text.h"

#define REACH (UINT64_C(2) << 30)
#define MARGIN (UINT64_C(1) << 20) /* what an operand may lie outside of its object */
#define LOWEST UINT64_C(0x10000)   /* vm.mmap_min_addr of most systems */

struct search {
	uintptr_t low, high; /* what is near: [low, high) */
	uintptr_t code, end; /* end: of the mapping before */
	size_t bytes;
	uintptr_t below, above; /* the best place below the code, and the last one above; 0: none */
};

static void look_at_gap(struct search *search, uintptr_t start, uintptr_t end)
{
	start = start > search->low ? start : search->low;
	end = end < search->high ? end : search->high;
	if (start >= end || end - start < search->bytes)
		return;
	*(end <= search->code ? &search->below : &search->above) = end - search->bytes;
}

/* Below a stack it may need the room. */
static bool look(const struct tpc_mapping *mapping, void *data)
{
	struct search *search = data;

	if (!tpc_text_glob("[stack*", mapping->label))
		look_at_gap(search, search->end, mapping->range.low);
	search->end = mapping->range.high;
	return search->end >= search->high;
}

static void *take(uintptr_t at, size_t bytes)
{
	void *made;

	if (!at)
		return NULL;
	made = (void *)tpc_syscall6(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (tpc_sys_failed(made))
		return NULL;
	if ((uintptr_t)made == at)
		return made;
	tpc_sys_munmap(made, bytes); /* before Linux 4.17 the address is a mere hint */
	return NULL;
}

void *tpc_near_take(struct tpc_range code, size_t bytes)
{
	char line[4352];
	struct search search = { .low = code.high > REACH - MARGIN + LOWEST ? code.high - REACH + MARGIN : LOWEST,
				 .high = code.low + REACH - MARGIN,
				 .code = code.low,
				 .bytes = bytes };
	void *made;

	tpc_maps_each(line, sizeof(line), look, &search);
	if (!search.end)
		return NULL;
	if (search.end < search.high)
		look_at_gap(&search, search.end, search.high);
	made = take(search.below, bytes);
	return made ? made : take(search.above, bytes);
}

bool tpc_near_seal(void *memory, size_t bytes)
{
	return tpc_syscall(SYS_mprotect, memory, bytes, PROT_READ | PROT_EXEC, 0) == 0;
}

bool tpc_near_write(uintptr_t at, const void *from, size_t bytes)
{
	int fd = tpc_sys_open("/proc/self/mem", O_WRONLY, 0);
	bool good = fd >= 0 && tpc_sys_pwrite(fd, from, bytes, at) == (long)bytes;

	if (fd >= 0)
		tpc_sys_close(fd);
	return good && memcmp((const void *)at, from, bytes) == 0;
}
