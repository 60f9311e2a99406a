/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lookup.h"

#include "core/objects.h"

#include <elf.h>
#include <link.h>

#define VERSION_HIDDEN 0x8000 /* in .gnu.version: found only by the name of its version */
#define VERSION_INDEX 0x7fff

struct symbols {
	uintptr_t bias;
	const ElfW(Sym) * table;
	const char *strings;
	const uint16_t *versions; /* NULL: none */
	const ElfW(Verdef) * defined;
	const uint32_t *hash; /* DT_GNU_HASH */
};

/* ld.so has relocated these addresses; in the vDSO they are still offsets. */
static const void *address_of(uintptr_t bias, uintptr_t value)
{
	return (const void *)(value < bias ? value + bias : value);
}

static bool read_symbols(uintptr_t bias, const ElfW(Dyn) * entry, struct symbols *symbols)
{
	*symbols = (struct symbols){ .bias = bias };
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *address = address_of(bias, entry->d_un.d_ptr);

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
		case DT_VERDEF:
			symbols->defined = address;
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

/* Not strcmp(): a sanitizer's, which precedes libc's, is not ready when the first functions are looked up. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return *a == *b;
}

enum wanted {
	DEFAULT, /* the default version */
	HIDDEN,	 /* another version */
	VALUE,	 /* undefined, but with a value */
};

static const ElfW(Sym) * is_it(const struct symbols *symbols, uint32_t i, const char *name, enum wanted wanted)
{
	const ElfW(Sym) *symbol = &symbols->table[i];
	bool defined = symbol->st_shndx != SHN_UNDEF;
	bool hidden = defined && symbols->versions && symbols->versions[i] & VERSION_HIDDEN;

	if (defined != (wanted != VALUE) || hidden != (wanted == HIDDEN) || (!defined && !symbol->st_value) ||
	    !same_name(symbols->strings + symbol->st_name, name))
		return NULL;
	return symbol;
}

/* Layout of DT_GNU_HASH: bucket count, first symbol, bloom words, bloom shift; bloom; buckets; chains. */
static const ElfW(Sym) * find(const struct symbols *symbols, const char *name, uint32_t hash, enum wanted wanted)
{
	uint32_t bucket_count = symbols->hash[0], first = symbols->hash[1], bloom_words = symbols->hash[2];
	const uint32_t *buckets = symbols->hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + bucket_count;
	uint32_t i = bucket_count ? buckets[hash % bucket_count] : 0;

	if (i < first)
		return NULL;
	for (;; i++) {
		uint32_t there = chains[i - first];
		const ElfW(Sym) *found = (there | 1) == (hash | 1) ? is_it(symbols, i, name, wanted) : NULL;

		if (found || there & 1) /* the low bit ends a chain */
			return found;
	}
}

static const ElfW(Sym) * find_in(const struct symbols *symbols, const char *name, uint32_t hash)
{
	return find(symbols, name, hash, DEFAULT);
}

static void *function(const struct symbols *symbols, const ElfW(Sym) * symbol)
{
	uintptr_t value = symbol ? symbols->bias + symbol->st_value : 0;

	switch (symbol ? ELF64_ST_TYPE(symbol->st_info) : STT_NOTYPE) {
	case STT_FUNC:
		return (void *)value;
	case STT_GNU_IFUNC:
		return ((void *(*)(void))value)();
	}
	return NULL;
}

static const struct link_map *map_of(const void *address)
{
	struct dl_find_object object;
	struct link_map *map;
	Dl_info info;

	if (tpc_object_find((uintptr_t)address, &object))
		return object.dlfo_link_map;
	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

void *tpc_lookup_beside(const void *address, const char *name)
{
	const struct link_map *map = map_of(address);
	struct symbols symbols;

	if (!map || !read_symbols(map->l_addr, map->l_ld, &symbols))
		return NULL;
	return function(&symbols, find_in(&symbols, name, hash_of(name)));
}

/* The object's symbol of that name, if its value is the address. */
static const ElfW(Sym) * symbol_at(const void *address, const char *name, enum wanted wanted)
{
	const struct link_map *map = map_of(address);
	const ElfW(Sym) *symbol = NULL;
	struct symbols symbols;

	if (map && read_symbols(map->l_addr, map->l_ld, &symbols))
		symbol = find(&symbols, name, hash_of(name), wanted);
	return symbol && map->l_addr + symbol->st_value == (uintptr_t)address ? symbol : NULL;
}

bool tpc_lookup_is_plt(const void *address, const char *name)
{
	return symbol_at(address, name, VALUE) != NULL;
}

bool tpc_lookup_is_data(const void *address, const char *name)
{
	const ElfW(Sym) *symbol = symbol_at(address, name, DEFAULT);

	return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
}

/* The name of a definition's version; NULL: none. */
static const char *version_of(const struct symbols *symbols, const ElfW(Sym) * symbol)
{
	const ElfW(Verdef) *version = symbols->defined;
	uint16_t index = symbols->versions ? symbols->versions[symbol - symbols->table] & VERSION_INDEX : 0;

	while (index > VER_NDX_GLOBAL && version) {
		if ((version->vd_ndx & VERSION_INDEX) == index) {
			const char *first = (const char *)version + version->vd_aux;

			return symbols->strings + ((const ElfW(Verdaux) *)first)->vda_name;
		}
		version = version->vd_next ? (const void *)((const char *)version + version->vd_next) : NULL;
	}
	return NULL;
}

/* Is that the default version of the name in some object? Then references were linked to it, and ask for it. */
static bool is_asked_for(const struct link_map *map, const char *name, uint32_t hash, const char *version)
{
	struct symbols symbols;

	while (map->l_prev)
		map = map->l_prev;
	for (; version && map; map = map->l_next) {
		const ElfW(Sym) *symbol =
			read_symbols(map->l_addr, map->l_ld, &symbols) ? find(&symbols, name, hash, DEFAULT) : NULL;
		const char *other = symbol ? version_of(&symbols, symbol) : NULL;

		if (other && same_name(other, version))
			return true;
	}
	return false;
}

/*
 * The definition in that object to which references to the name are bound: the loader takes the version that they ask
 * for, even if it is not the default there (the functions of libc_malloc_debug.so.0 have no default version).
 */
static const ElfW(Sym) *
	find_bound(const struct link_map *map, const struct symbols *symbols, const char *name, uint32_t hash)
{
	const ElfW(Sym) *found = find(symbols, name, hash, DEFAULT);

	if (found || !symbols->versions)
		return found;
	found = find(symbols, name, hash, HIDDEN);
	return found && is_asked_for(map, name, hash, version_of(symbols, found)) ? found : NULL;
}

/* Searches this object and those loaded after it; not `but`. */
static void *find_from(const struct link_map *map, const struct link_map *but, const char *name)
{
	uint32_t hash = hash_of(name);
	struct symbols symbols;
	void *found = NULL;

	for (; map && !found; map = map->l_next) {
		if (map != but && read_symbols(map->l_addr, map->l_ld, &symbols))
			found = function(&symbols, find_bound(map, &symbols, name, hash));
	}
	return found;
}

void *tpc_lookup_behind(const void *address, const char *name)
{
	const struct link_map *map = map_of(address);

	return map ? find_from(map->l_next, NULL, name) : NULL;
}

static const struct link_map *first_object(void)
{
	const struct link_map *map = map_of((const void *)&first_object);

	while (map && map->l_prev)
		map = map->l_prev;
	return map;
}

void *tpc_lookup_first(const char *name)
{
	return find_from(first_object(), NULL, name);
}

void *tpc_lookup_variable(const char *name)
{
	uint32_t hash = hash_of(name);
	struct symbols symbols;

	for (const struct link_map *map = first_object(); map; map = map->l_next) {
		const ElfW(Sym) *symbol =
			read_symbols(map->l_addr, map->l_ld, &symbols) ? find_in(&symbols, name, hash) : NULL;

		if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
			return (void *)(map->l_addr + symbol->st_value);
	}
	return NULL;
}

static bool came_last;

void tpc_lookup_came_last(void)
{
	came_last = true;
}

bool tpc_lookup_is_last(void)
{
	return came_last;
}

void *tpc_lookup_next(const char *name)
{
	const void *here = (const void *)&tpc_lookup_next;

	return came_last ? find_from(first_object(), map_of(here), name) : tpc_lookup_behind(here, name);
}

bool tpc_lookup_in(const struct dl_phdr_info *object, const char *name, struct tpc_lookup_found *found)
{
	struct symbols symbols;
	const ElfW(Sym) *symbol = NULL;

	for (size_t i = 0; i < object->dlpi_phnum && !symbol; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_DYNAMIC &&
		    read_symbols(object->dlpi_addr, (const ElfW(Dyn) *)(object->dlpi_addr + header->p_vaddr), &symbols))
			symbol = find_in(&symbols, name, hash_of(name));
	}
	if (!symbol)
		return false;
	*found = (struct tpc_lookup_found){ object->dlpi_addr + symbol->st_value, symbol->st_size };
	return true;
}
