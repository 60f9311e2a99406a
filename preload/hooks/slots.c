/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/slots.h"

#include "core/sys.h"

#include <elf.h>
#include <link.h>

struct image {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * tables[2]; /* DT_JMPREL and DT_RELA */
	size_t bytes[2];
	uintptr_t relro_low, relro_high;
};

struct search {
	const struct tp_slot_hook *hooks;
	size_t count, redirected;
};

/* ld.so has turned these into addresses; the vDSO's are still offsets. */
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
		}
	}
}

static bool is_own(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    (uintptr_t)&tp_slots_redirect - info->dlpi_addr - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}

static bool read_image(const struct dl_phdr_info *info, struct image *image)
{
	*image = (struct image){ .bias = info->dlpi_addr };
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_DYNAMIC) {
			read_dynamic(image, (const ElfW(Dyn) *)start);
		} else if (header->p_type == PT_GNU_RELRO) {
			image->relro_low = start & ~(uintptr_t)(TP_PAGE - 1);
			image->relro_high = start + header->p_memsz;
		}
	}
	return image->symbols && image->strings;
}

/* RELRO made the slot's page read-only after relocation: writable for the moment. */
static bool store(const struct image *image, void **slot, void *value)
{
	uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(TP_PAGE - 1);
	bool protected_page = (uintptr_t)slot >= image->relro_low && (uintptr_t)slot < image->relro_high;

	if (protected_page && tp_syscall(SYS_mprotect, page, TP_PAGE, PROT_READ | PROT_WRITE, 0) != 0)
		return false;
	tp_store_release(slot, value);
	if (protected_page)
		tp_syscall(SYS_mprotect, page, TP_PAGE, PROT_READ, 0);
	return true;
}

static void redirect(struct search *search, const struct image *image, const ElfW(Rela) * relocation)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
	const char *name;

	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
	    (type != R_X86_64_64 || relocation->r_addend != 0))
		return;
	name = image->strings + image->symbols[ELF64_R_SYM(relocation->r_info)].st_name;
	for (size_t i = 0; i < search->count; i++) {
		if (strcmp(name, search->hooks[i].name) == 0)
			search->redirected +=
				store(image, (void **)(image->bias + relocation->r_offset), search->hooks[i].hook);
	}
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct image image;

	(void)size;
	if (is_own(info) || !read_image(info, &image))
		return 0;
	for (size_t table = 0; table < TP_LENGTH(image.tables); table++) {
		for (size_t i = 0; image.tables[table] && i < image.bytes[table] / sizeof(ElfW(Rela)); i++)
			redirect(context, &image, &image.tables[table][i]);
	}
	return 0;
}

size_t tp_slots_redirect(const struct tp_slot_hook *hooks, size_t count)
{
	struct search search = { hooks, count, 0 };

	dl_iterate_phdr(visit, &search);
	return search.redirected;
}
