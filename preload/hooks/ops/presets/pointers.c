/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/pointers.h"

#include "core/objects.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/link/covered.h"

#include <link.h>

struct place {
	uintptr_t address;
	bool relro; /* the loader made it read-only */
};

static int find_relro(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_GNU_RELRO &&
		    place->address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
			place->relro = true;
	}
	return place->relro;
}

bool tpc_pointer_store(void **slot, void *value)
{
	struct place place = { (uintptr_t)slot, false };
	uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(TPC_PAGE - 1);

	dl_iterate_phdr(find_relro, &place);
	if (place.relro && tpc_syscall(SYS_mprotect, page, TPC_PAGE, PROT_READ | PROT_WRITE, 0) != 0)
		return false;
	tpc_store_release(slot, value); /* pairs with calls through it: the stub is there */
	if (place.relro)
		tpc_syscall(SYS_mprotect, page, TPC_PAGE, PROT_READ, 0);
	tpc_add(&tpc_header->slots, 1);
	return true;
}

void tpc_pointers_tell(enum tprof_hooks state, uint64_t pointers, const void *target)
{
	struct dl_find_object object;

	if (pointers && tpc_object_find((uintptr_t)target, &object))
		tpc_covered_add(state, pointers, pointers, object.dlfo_link_map->l_name);
}

struct search {
	uintptr_t target;
	struct tpc_range range;
	void (*visit)(void **slot);
};

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}

static int search(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct search *search = context;

	(void)size;
	if (!holds(info, search->target))
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		void **slot = (void **)(info->dlpi_addr + header->p_vaddr),
		     **end = slot + header->p_memsz / sizeof(void *);

		for (; header->p_type == PT_GNU_RELRO && slot < end; slot++)
			if (tpc_unlikely(tpc_range_holds(search->range, (uintptr_t)*slot)))
				search->visit(slot);
	}
	return 1;
}

void tpc_pointers_each(const void *target, struct tpc_range range, void (*visit)(void **slot))
{
	struct search what = { (uintptr_t)target, range, visit };

	dl_iterate_phdr(search, &what);
}
