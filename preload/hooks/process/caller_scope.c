/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/caller_scope.h"

#include "core/objects.h"
#include "core/trylock.h"
#include "hooks/link/loader.h"

#include <elf.h>
#include <link.h>

static bool has_entry(const ElfW(Dyn) * entry, int64_t tag)
{
	while (entry && entry->d_tag != DT_NULL && entry->d_tag != tag)
		entry++;
	return entry && entry->d_tag == tag;
}

/* Has any object except the program an RPATH? Objects are looked at once. */
static struct {
	uint64_t unloads; /* of the loader, at the last look: without further ones, new objects come last */
	size_t count;
	bool found;
} rpaths;
static tpc_shared_u32 looking; /* core/trylock.h */

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *object)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	}
	return NULL;
}

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
	size_t *number = context;

	(void)size;
	if (rpaths.unloads != object->dlpi_subs) {
		rpaths.unloads = object->dlpi_subs;
		rpaths.count = 0;
	}
	if (++*number <= rpaths.count)
		return 0;
	rpaths.count = *number;
	if (*number > 1) /* the program is the first */
		rpaths.found |= has_entry(dynamic_of(object), DT_RPATH);
	return rpaths.found;
}

static bool any_rpath(void)
{
	size_t number = 0;
	bool found;

	if (!tpc_trylock_take(&looking))
		return true;
	if (!rpaths.found && tpc_loader_begin()) {
		dl_iterate_phdr(look, &number);
		tpc_loader_end();
	}
	found = rpaths.found || !number;
	tpc_trylock_end(&looking);
	return found;
}

static bool has_runpath(uintptr_t address)
{
	struct dl_find_object object;

	return !tpc_object_find(address, &object) || has_entry(object.dlfo_link_map->l_ld, DT_RUNPATH);
}

bool tpc_asker_matters(const char *file, uintptr_t asker)
{
	return strchr(file, '$') || (!strchr(file, '/') && has_runpath(asker)) || any_rpath();
}
