/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/debug_file.h"

#include "core/sys.h"

#include <elf.h>
#include <link.h>

#define AT_ONCE 512u /* bytes: the stack may be small */

bool tpc_debug_file_read(int fd, void *to, struct tpc_debug_place place)
{
	for (uint64_t done = 0; done < place.size;) {
		long got = tpc_sys_pread(fd, (char *)to + done, place.size - done, place.offset + done);

		if (got <= 0)
			return false;
		done += (uint64_t)got;
	}
	return true;
}

static bool read_header(int fd, ElfW(Ehdr) * header)
{
	return tpc_debug_file_read(fd, header, (struct tpc_debug_place){ 0, sizeof(*header) }) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_shentsize == sizeof(ElfW(Shdr)) && header->e_shstrndx < header->e_shnum;
}

/* The first page: linkers put the build id there. It is never written to. */
bool tpc_debug_file_is(int fd, const struct tpc_debug_module *module)
{
	char bytes[AT_ONCE];
	ElfW(Ehdr) header;

	if (!read_header(fd, &header) || module->end - module->start < TPC_PAGE)
		return false;
	for (uint64_t at = 0; at < TPC_PAGE; at += sizeof(bytes)) {
		long got = tpc_sys_pread(fd, bytes, sizeof(bytes), at);

		if (got <= 0 || memcmp(bytes, (const char *)module->start + at, (size_t)got) != 0)
			return got == 0;
	}
	return true;
}

static bool is_named(int fd, uint64_t at, const char *name)
{
	char bytes[32];
	size_t size = strlen(name) + 1;

	return tpc_sys_pread(fd, bytes, size, at) == (long)size && memcmp(bytes, name, size) == 0;
}

static bool find_section(int fd, const char *name, uint32_t type, ElfW(Shdr) * found)
{
	ElfW(Ehdr) header;
	ElfW(Shdr) names;

	if (!read_header(fd, &header) ||
	    !tpc_debug_file_read(
		    fd, &names,
		    (struct tpc_debug_place){ header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names) }))
		return false;
	for (uint64_t i = 1; i < header.e_shnum; i++) {
		if (!tpc_debug_file_read(
			    fd, found, (struct tpc_debug_place){ header.e_shoff + i * sizeof(*found), sizeof(*found) }))
			return false;
		if (found->sh_type == type && is_named(fd, names.sh_offset + found->sh_name, name))
			return true;
	}
	return false;
}

bool tpc_debug_file_section(int fd, const char *name, uint32_t type, struct tpc_debug_place *place)
{
	ElfW(Shdr) section;

	if (!find_section(fd, name, type, &section) || section.sh_flags & SHF_COMPRESSED)
		return false;
	*place = (struct tpc_debug_place){ section.sh_offset, section.sh_size };
	return true;
}

bool tpc_debug_file_find(int fd, struct tpc_debug_place *place)
{
	return tpc_debug_file_section(fd, ".debug_frame", SHT_PROGBITS, place) && place->size <= TPC_DEBUG_MOST;
}
