/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/slots.h"

#include "core/lookup.h"
#include "core/objects.h"
#include "core/sys.h"
#include "hooks/link/version.h"

#include <elf.h>
#include <link.h>

#define AHEAD 8 /* relocations to prefetch; each takes some hundred instructions */

struct image {
	const struct dl_phdr_info *info;
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * tables[2]; /* DT_JMPREL and DT_RELA */
	size_t bytes[2];
	size_t relative; /* relocations that name no symbol: so many of DT_RELA's, in front. Left alone: where the linker bound
			  * a function to its own object, the code there has its address too, and may compare them */
	uintptr_t relro_low, relro_high;
	uintptr_t start, end; /* bounds of its segments */
	const uint32_t *hash; /* DT_GNU_HASH */
	struct tpc_versions versions;
};

/*
 * A program that is not position-independent, or was compiled as if it were not, has copies of its libraries' variables
 * in its own memory, including pointers in them that no relocation of its own names.
 */
#define COPIES_MAX 64u

struct copy {
	const char *name;
	uintptr_t to, from; /* from: 0 until the object that defines it is visited */
	size_t bytes;
};

struct copies {
	struct dl_phdr_info info; /* of the program */
	struct image program;
	struct copy list[COPIES_MAX];
	size_t count;
	bool here; /* some come from the object that is being visited */
};

struct visit {
	const struct tpc_slot_visitor *visitor;
	struct copies *copies;
	struct tpc_seen *seen;
	const char *object;
	size_t changed;
	struct tpc_range opened; /* pages that are writable at the moment; high 0: none */
};

/* ld.so has relocated these addresses; in the vDSO they are still offsets. */
static uintptr_t address_of(const struct image *image, uintptr_t value)
{
	return value < image->bias ? value + image->bias : value;
}

static void read_dynamic(struct image *image, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			image->symbols = (const ElfW(Sym) *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_STRTAB:
			image->strings = (const char *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			image->hash = (const uint32_t *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_VERSYM:
			image->versions.of_symbols = (const uint16_t *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_VERNEED:
			image->versions.needed = (const ElfW(Verneed) *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_JMPREL:
			image->tables[0] = (const ElfW(Rela) *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			image->bytes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			image->tables[1] = (const ElfW(Rela) *)address_of(image, entry->d_un.d_ptr);
			break;
		case DT_RELASZ:
			image->bytes[1] = entry->d_un.d_val;
			break;
		case DT_RELACOUNT:
			image->relative = entry->d_un.d_val;
			break;
		}
	}
}

static bool is_own(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    (uintptr_t)&tpc_slots_visit - info->dlpi_addr - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}

static bool read_image(const struct dl_phdr_info *info, struct image *image)
{
	*image = (struct image){ .info = info, .bias = info->dlpi_addr, .start = UINTPTR_MAX };
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_DYNAMIC) {
			read_dynamic(image, (const ElfW(Dyn) *)start);
		} else if (header->p_type == PT_GNU_RELRO) {
			image->relro_low = start & ~(uintptr_t)(TPC_PAGE - 1);
			/* A partial page stays writable (elf/dl-reloc.c): it contains data of the program. */
			image->relro_high = (start + header->p_memsz) & ~(uintptr_t)(TPC_PAGE - 1);
		} else if (header->p_type == PT_LOAD) {
			image->start = start < image->start ? start : image->start;
			image->end = start + header->p_memsz > image->end ? start + header->p_memsz : image->end;
		}
	}
	return image->symbols && image->strings;
}

/* Pointers within code, which the loader relocates too (DT_TEXTREL), are not: threads run there. */
static bool lies_in_data(const struct image *image, const void *slot)
{
	for (size_t i = 0; i < image->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &image->info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && (uintptr_t)slot - image->bias - header->p_vaddr < header->p_memsz)
			return header->p_flags & PF_W;
	}
	return false;
}

/* Makes the pages opened by open_pages() read-only again. */
static void close_pages(struct visit *visit)
{
	if (visit->opened.high)
		tpc_syscall(SYS_mprotect, visit->opened.low, visit->opened.high - visit->opened.low, PROT_READ, 0);
	visit->opened = (struct tpc_range){ 0 };
}

static bool open_range(struct visit *visit, uintptr_t low, uintptr_t high)
{
	if (tpc_syscall(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE, 0) != 0)
		return false;
	visit->opened = (struct tpc_range){ low, high };
	return true;
}

/*
 * RELRO made the slot's page read-only after relocation: makes it writable for a moment. Changing a page's protection
 * splits its mapping and interrupts other processors, and relocations are sorted by symbol, so that slots in an
 * object's tables and slots of its own calls alternate. So everything that the loader made read-only at once is
 * writable until the object is done; only the page if the kernel can't promise memory for all.
 */
static bool open_pages(struct visit *visit, const struct image *image, void **slot)
{
	uintptr_t at = (uintptr_t)slot, page = at & ~(uintptr_t)(TPC_PAGE - 1);

	if (at < image->relro_low || at >= image->relro_high || tpc_range_holds(visit->opened, at))
		return true;
	close_pages(visit);
	return open_range(visit, image->relro_low, image->relro_high) || open_range(visit, page, page + TPC_PAGE);
}

static bool store(struct visit *visit, const struct image *image, void **slot, void *value)
{
	if (!lies_in_data(image, slot) || !open_pages(visit, image, slot))
		return false;
	tpc_store_release(slot, value); /* pairs with calls through it: the stub is there */
	return true;
}

/*
 * An unused lazy slot points back into the PLT of its own object: neither to that object's definition of the symbol nor
 * to another object.
 */
static bool is_unbound(const struct image *image, const ElfW(Sym) * symbol, uintptr_t target)
{
	return target >= image->start && target < image->end &&
	       (symbol->st_shndx == SHN_UNDEF || target != image->bias + symbol->st_value);
}

static void offer_slot(struct visit *visit, const struct image *image, void **slot, const struct tpc_slot *offered)
{
	void *choice = visit->visitor->choose(offered, visit->visitor->context);
	bool good;

	if (!choice || choice == *slot)
		return;
	good = store(visit, image, slot, choice);
	visit->changed += good;
	if (visit->visitor->stored)
		visit->visitor->stored(choice, good, visit->visitor->context);
}

/*
 * The loader copies variables after it has relocated their originals: where the original has a pointer, the copy has
 * one.
 */
static void offer_copies(struct visit *visit, const struct tpc_slot *offered, uintptr_t slot)
{
	struct copies *copies = visit->copies;

	for (size_t i = 0; i < copies->count; i++) {
		const struct copy *copy = &copies->list[i];
		void **copied = (void **)(copy->to + (slot - copy->from));
		struct tpc_slot it = *offered;

		if (!copy->from || slot - copy->from >= copy->bytes || !*copied)
			continue;
		it.target = *copied;
		offer_slot(visit, &copies->program, copied, &it);
	}
}

static void note_copy(struct visit *visit, const struct image *image, const ElfW(Rela) * relocation)
{
	const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(relocation->r_info)];
	struct copies *copies = visit->copies;

	if (copies->count == COPIES_MAX)
		return;
	copies->info = *image->info;
	copies->program = *image;
	copies->program.info = &copies->info;
	copies->list[copies->count++] = (struct copy){ image->strings + symbol->st_name,
						       image->bias + relocation->r_offset, 0, symbol->st_size };
}

static void offer(struct visit *visit, const struct image *image, const ElfW(Rela) * relocation)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
	void **slot = (void **)(image->bias + relocation->r_offset);
	uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
	const ElfW(Sym) *symbol = &image->symbols[index];
	struct tpc_slot offered;

	if (type == R_X86_64_COPY)
		note_copy(visit, image, relocation);
	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
	    (type != R_X86_64_64 || relocation->r_addend != 0))
		return;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
		return; /* a variable. They are half of what a C++ library names: type names and base classes */
	if (!*slot)
		return; /* an undefined weak symbol, or a function that the program removed from its table */
	offered = (struct tpc_slot){ image->strings + symbol->st_name, visit->object, *slot, NULL };
	if (type == R_X86_64_JUMP_SLOT && is_unbound(image, symbol, (uintptr_t)*slot)) {
		offered.target = NULL;
		offered.version = tpc_version_needed(&image->versions, image->strings, index);
	}
	offer_slot(visit, image, slot, &offered);
	if (type == R_X86_64_64 && visit->copies->here)
		offer_copies(visit, &offered, (uintptr_t)slot);
}

/* Which of the program's copies come from this object? The first object that defines the name counts, as for the loader. */
static void find_copied(struct copies *copies, const struct dl_phdr_info *info)
{
	struct tpc_lookup_found found;

	copies->here = false;
	for (size_t i = 0; i < copies->count; i++) {
		if (!copies->list[i].from && tpc_lookup_in(info, copies->list[i].name, &found)) {
			copies->list[i].from = found.address;
			copies->here = true;
		}
	}
}

/* Was the object visited before? Remembers it. After an unloading, other objects may be at the same addresses. */
static bool was_seen(struct tpc_seen *seen, const struct dl_phdr_info *info)
{
	if (seen->unloads != info->dlpi_subs) {
		seen->unloads = info->dlpi_subs;
		seen->count = 0;
	}
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->objects[i].bias == info->dlpi_addr && seen->objects[i].headers == info->dlpi_phdr)
			return true;
	}
	if (seen->count < TPC_LENGTH(seen->objects)) {
		seen->objects[seen->count].bias = info->dlpi_addr;
		seen->objects[seen->count++].headers = info->dlpi_phdr;
	}
	return false;
}

/* Symbols and names are spread over tables of megabytes: prefetches those of the next relocations. */
static void fetch_ahead(const struct image *image, const ElfW(Rela) * next, const ElfW(Rela) * end)
{
	if (next + 2 * AHEAD < end)
		__builtin_prefetch(&image->symbols[ELF64_R_SYM(next[2 * AHEAD].r_info)]);
	if (next + AHEAD < end)
		__builtin_prefetch(image->strings + image->symbols[ELF64_R_SYM(next[AHEAD].r_info)].st_name);
}

static void offer_all(struct visit *visit, const struct image *image)
{
	for (size_t table = 0; table < TPC_LENGTH(image->tables); table++) {
		const ElfW(Rela) *at = image->tables[table], *end = at + image->bytes[table] / sizeof(*at);

		if (table == 1 && image->relative <= (size_t)(end - at))
			at += image->relative;
		for (; image->tables[table] && at < end; at++) {
			fetch_ahead(image, at, end);
			offer(visit, image, at);
		}
	}
	close_pages(visit);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
	static struct copies
		copies; /* static: the stack may be small; one visit at a time, as dl_iterate_phdr takes a lock */
	struct visit *visit = context;
	struct image image;

	(void)size;
	if (!visit->copies) {
		visit->copies = &copies;
		copies.count = 0;
	}
	if (visit->seen && visit->seen->loads == info->dlpi_adds && visit->seen->unloads == info->dlpi_subs)
		return 1; /* nothing was loaded since */
	if ((visit->seen && was_seen(visit->seen, info)) || is_own(info) || !read_image(info, &image))
		return 0;
	visit->object = info->dlpi_name ? info->dlpi_name : "";
	find_copied(visit->copies, info);
	offer_all(visit, &image);
	if (visit->visitor->visited)
		visit->visitor->visited(visit->object, visit->visitor->context);
	return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *context)
{
	struct tpc_seen *seen = context;

	(void)size;
	seen->loads = info->dlpi_adds;
	return 1;
}

static int compare_loads(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct tpc_seen *seen = context;

	(void)size;
	return seen->loads == info->dlpi_adds && seen->unloads == info->dlpi_subs ? 1 : 2;
}

bool tpc_slots_are_new(const struct tpc_seen *seen)
{
	return dl_iterate_phdr(compare_loads, (void *)(uintptr_t)seen) == 2;
}

size_t tpc_slots_visit(const struct tpc_slot_visitor *visitor, struct tpc_seen *seen)
{
	struct visit visit = { .visitor = visitor, .seen = seen, .object = "" };

	dl_iterate_phdr(visit_object, &visit);
	if (seen)
		dl_iterate_phdr(count_loads, seen);
	return visit.changed;
}

/* ---- what objects define ---- */

static void show_export(const struct visit *visit, const struct image *image, const ElfW(Sym) * symbol)
{
	struct tpc_slot shown = { image->strings + symbol->st_name, visit->object,
				  (void *)(image->bias + symbol->st_value), NULL };

	if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF)
		visit->visitor->choose(&shown, visit->visitor->context);
}

/* All exported symbols are reachable through the GNU hash table, in chains, one for each bucket. */
static void show_exports(const struct visit *visit, const struct image *image)
{
	const uint32_t *hash = image->hash, *buckets = hash + 4 + 2 * (size_t)hash[2], *chains = buckets + hash[0];
	uint32_t last = 0; /* of the symbols that begin a chain */

	for (uint32_t bucket = 0; bucket < hash[0]; bucket++)
		last = buckets[bucket] > last ? buckets[bucket] : last;
	for (uint32_t bucket = 0; bucket < hash[0]; bucket++) {
		for (uint32_t i = buckets[bucket]; i >= hash[1]; i++) {
			if (i + AHEAD <= last) /* as in fetch_ahead() */
				__builtin_prefetch(image->strings + image->symbols[i + AHEAD].st_name);
			show_export(visit, image, &image->symbols[i]);
			if (chains[i - hash[1]] & 1)
				break; /* the last of its bucket */
		}
	}
}

struct showing {
	const struct tpc_seen *seen;
	size_t from;
	void (*look)(const struct dl_phdr_info *info, void *context);
	void *context;
};

static int show_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct showing *showing = context;
	const struct tpc_seen *seen = showing->seen;
	size_t i;

	(void)size;
	for (i = showing->from; i < seen->count; i++) {
		if (seen->objects[i].bias == info->dlpi_addr && seen->objects[i].headers == info->dlpi_phdr)
			break;
	}
	if (i < seen->count && !is_own(info))
		showing->look(info, showing->context);
	return 0;
}

void tpc_slots_objects(const struct tpc_seen *seen, size_t from, void (*look)(const struct dl_phdr_info *, void *),
		       void *context)
{
	struct showing showing = { seen, from, look, context };

	if (from < seen->count)
		dl_iterate_phdr(show_object, &showing);
}

static void exports_object(const struct dl_phdr_info *info, void *context)
{
	struct visit *visit = context;
	struct image image;

	if (!read_image(info, &image) || !image.hash)
		return;
	visit->object = info->dlpi_name ? info->dlpi_name : "";
	show_exports(visit, &image);
	visit->visitor->visited(visit->object, visit->visitor->context);
}

void tpc_slots_exports(const struct tpc_slot_visitor *visitor, const struct tpc_seen *seen, size_t from)
{
	struct visit visit = { .visitor = visitor, .object = "" };

	tpc_slots_objects(seen, from, exports_object, &visit);
}

bool tpc_slots_is_code(const void *address)
{
	struct dl_find_object object;
	const ElfW(Ehdr) * header;

	if (!tpc_object_find((uintptr_t)address, &object))
		return false;
	header = object.dlfo_map_start;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return true; /* the object does not map its header: unknown */
	for (size_t i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *segment = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff) + i;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    (uintptr_t)address - object.dlfo_link_map->l_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}
