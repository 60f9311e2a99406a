/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lookup.h"

#include "core/objects.h"

#include <elf.h>
#include <link.h>

#define VERSION_HIDDEN 0x8000 /* in .gnu.version: only found by its version's name */

struct symbols {
	const struct link_map *map;
	const ElfW(Sym) * table;
	const char *strings;
	const uint16_t *versions; /* NULL: none */
	const uint32_t *hash;	  /* DT_GNU_HASH */
};

/* ld.so has turned these into addresses; the vDSO's are still offsets. */
static const void *address_of(const struct link_map *map, uintptr_t value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool read_symbols(const struct link_map *map, struct symbols *symbols)
{
	*symbols = (struct symbols){ .map = map };
	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
		const void *address = address_of(map, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			symbols->table = address;
			break;
		case DT_STRTAB:
			symbols->strings = address;
			break;
		case DT_VERSYM:
			symbols->versions = address;
			break;
		case DT_GNU_HASH:
			symbols->hash = address;
			break;
		}
	}
	return symbols->table && symbols->strings && symbols->hash;
}

/* The hash of DT_GNU_HASH (Bernstein's; binutils, elf_gnu_hash). */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static void *definition(const struct symbols *symbols, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &symbols->table[i];
	uintptr_t value = symbols->map->l_addr + symbol->st_value;

	if (symbol->st_shndx == SHN_UNDEF || strcmp(symbols->strings + symbol->st_name, name) != 0 ||
	    (symbols->versions && symbols->versions[i] & VERSION_HIDDEN))
		return NULL;
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
		return (void *)value;
	case STT_GNU_IFUNC:
		return ((void *(*)(void))value)();
	}
	return NULL;
}

/* Layout of DT_GNU_HASH: bucket count, first symbol, bloom words, bloom shift; bloom; buckets; chains. */
static void *find_in(const struct symbols *symbols, const char *name, uint32_t hash)
{
	uint32_t bucket_count = symbols->hash[0], first = symbols->hash[1], bloom_words = symbols->hash[2];
	const uint32_t *buckets = symbols->hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + bucket_count;
	uint32_t i = bucket_count ? buckets[hash % bucket_count] : 0;

	if (i < first)
		return NULL;
	for (;; i++) {
		uint32_t there = chains[i - first];
		void *found = (there | 1) == (hash | 1) ? definition(symbols, i, name) : NULL;

		if (found || there & 1) /* the low bit ends a chain */
			return found;
	}
}

static const struct link_map *own_map(void)
{
	struct dl_find_object own;
	struct link_map *map;
	Dl_info info;

	if (tp_object_find((uintptr_t)&tp_lookup_next, &own))
		return own.dlfo_link_map;
	return dladdr1((void *)&tp_lookup_next, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

void *tp_lookup_next(const char *name)
{
	const struct link_map *map = own_map();
	uint32_t hash = hash_of(name);
	struct symbols symbols;
	void *found = NULL;

	while (map && !found) {
		map = map->l_next;
		if (map && read_symbols(map, &symbols))
			found = find_in(&symbols, name, hash);
	}
	return found;
}
