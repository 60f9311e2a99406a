/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/symtab.h"

#include "core/sys.h"
#include "core/text.h"

#define DEBUG_FOLDER "/usr/lib/debug"
#define ID_MAX 64u

struct id { /* GNU build-id; bytes 0: none */
	uint8_t id[ID_MAX];
	size_t bytes;
};

struct elf {
	const uint8_t *start;
	size_t bytes;
	const Elf64_Shdr *sections;
	size_t count;
};

/* ---- a file ---- */

static bool holds(size_t bytes, uint64_t offset, uint64_t size)
{
	return offset <= bytes && size <= bytes - offset;
}

static void unmap(struct elf *elf)
{
	if (elf->start)
		tpc_sys_munmap((void *)(uintptr_t)elf->start, elf->bytes);
	*elf = (struct elf){ 0 };
}

static bool check(struct elf *elf)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->start;

	if (elf->bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
	    header->e_shoff % sizeof(uint64_t) ||
	    !holds(elf->bytes, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
		return false;
	elf->sections = (const Elf64_Shdr *)(const void *)(elf->start + header->e_shoff);
	elf->count = header->e_shnum;
	return true;
}

static bool map(const char *path, struct elf *elf)
{
	int fd = tpc_sys_open(path, O_RDONLY | O_NONBLOCK, 0); /* a FIFO would wait for a writer */
	struct stat status;

	*elf = (struct elf){ 0 };
	if (fd < 0)
		return false;
	if (tpc_sys_fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		elf->bytes = (size_t)status.st_size;
		elf->start = tpc_sys_mmap(elf->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	tpc_sys_close(fd);
	if (!elf->start || tpc_sys_failed(elf->start)) {
		elf->start = NULL;
		return false;
	}
	if (!check(elf))
		unmap(elf);
	return elf->start != NULL;
}

/* The content of a section; NULL: it has none in this file. */
static const uint8_t *content(const struct elf *elf, const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL || section->sh_flags & SHF_COMPRESSED ||
	    !holds(elf->bytes, section->sh_offset, section->sh_size))
		return NULL;
	return elf->start + section->sh_offset;
}

static const Elf64_Shdr *section_of(const struct elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->count; i++) {
		if (elf->sections[i].sh_type == type)
			return &elf->sections[i];
	}
	return NULL;
}

/* ---- build-ids ---- */

static bool read_note(const uint8_t *at, size_t bytes, struct id *id)
{
	const Elf64_Nhdr *note;
	size_t name, description;

	for (; bytes >= sizeof(*note);
	     at += sizeof(*note) + name + description, bytes -= sizeof(*note) + name + description) {
		note = (const Elf64_Nhdr *)(const void *)at;
		name = tpc_round_up(note->n_namesz, 4);
		description = tpc_round_up(note->n_descsz, 4);
		if (name > bytes - sizeof(*note) || description > bytes - sizeof(*note) - name)
			return false;
		if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || memcmp(note + 1, "GNU", 4) != 0)
			continue;
		id->bytes = note->n_descsz < ID_MAX ? note->n_descsz : ID_MAX;
		memcpy(id->id, at + sizeof(*note) + name, id->bytes);
		return id->bytes > 2;
	}
	return false;
}

static void id_loaded(const struct dl_phdr_info *object, struct id *id)
{
	id->bytes = 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_NOTE &&
		    read_note((const uint8_t *)(object->dlpi_addr + header->p_vaddr), header->p_memsz, id))
			return;
	}
	id->bytes = 0;
}

static void id_in_file(const struct elf *elf, struct id *id)
{
	id->bytes = 0;
	for (size_t i = 0; i < elf->count; i++) {
		const uint8_t *note = elf->sections[i].sh_type == SHT_NOTE ? content(elf, &elf->sections[i]) : NULL;

		if (note && elf->sections[i].sh_offset % 4 == 0 && read_note(note, elf->sections[i].sh_size, id))
			return;
	}
	id->bytes = 0;
}

static bool has_id(const struct elf *elf, const struct id *id)
{
	struct id there;

	id_in_file(elf, &there);
	return there.bytes == id->bytes && memcmp(there.id, id->id, id->bytes) == 0;
}

/* ---- separate debug files ---- */

static void add_hex(struct tpc_text *to, uint8_t byte)
{
	char digits[3] = { "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15], '\0' };

	tpc_text_add(to, digits);
}

static bool map_by_id(const struct id *id, struct elf *elf)
{
	char path[sizeof(DEBUG_FOLDER) + 32 + 2 * ID_MAX];
	struct tpc_text to = tpc_text_in(path, sizeof(path));

	tpc_text_add(&to, DEBUG_FOLDER "/.build-id/");
	add_hex(&to, id->id[0]);
	tpc_text_add(&to, "/");
	for (size_t i = 1; i < id->bytes; i++)
		add_hex(&to, id->id[i]);
	tpc_text_add(&to, ".debug");
	return map(path, elf);
}

/* The name in .gnu_debuglink; NULL: none. */
static const char *debug_link(const struct elf *elf)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->start;
	const Elf64_Shdr *names = header->e_shstrndx < elf->count ? &elf->sections[header->e_shstrndx] : NULL;
	const char *text = names ? (const char *)content(elf, names) : NULL;

	for (size_t i = 0; text && i < elf->count; i++) {
		static const char wanted[] = ".gnu_debuglink";
		const Elf64_Shdr *section = &elf->sections[i];
		const char *link = (const char *)content(elf, section);

		if (holds(names->sh_size, section->sh_name, sizeof(wanted)) &&
		    memcmp(text + section->sh_name, wanted, sizeof(wanted)) == 0 && link && section->sh_size > 1 &&
		    strnlen(link, section->sh_size) < section->sh_size)
			return link;
	}
	return NULL;
}

/* GDB's places: beside the file, in .debug there, and below /usr/lib/debug. */
static bool map_by_link(const char *file, const char *link, const struct id *id, struct elf *elf)
{
	static const char *const before[] = { "", "", DEBUG_FOLDER }, *const behind[] = { "", ".debug/", "" };
	char path[4096], folder[2048];
	struct tpc_text within = tpc_text_in(folder, sizeof(folder));

	tpc_text_add(&within, file);
	if ((size_t)(tpc_text_base(file) - file) >= sizeof(folder))
		return false;
	folder[tpc_text_base(file) - file] = '\0';
	for (size_t i = 0; i < TPC_LENGTH(before); i++) {
		struct tpc_text to = tpc_text_in(path, sizeof(path));

		tpc_text_add(&to, before[i]);
		tpc_text_add(&to, folder);
		tpc_text_add(&to, behind[i]);
		tpc_text_add(&to, link);
		if (map(path, elf) && has_id(elf, id) && section_of(elf, SHT_SYMTAB))
			return true;
		unmap(elf);
	}
	return false;
}

/* ---- the table ---- */

static bool read_table(const struct elf *elf, const Elf64_Shdr *section, struct tpc_symtab *table)
{
	const Elf64_Shdr *strings = section && section->sh_link < elf->count ? &elf->sections[section->sh_link] : NULL;
	const uint8_t *symbols = strings ? content(elf, section) : NULL, *text = strings ? content(elf, strings) : NULL;

	if (!symbols || !text || section->sh_entsize != sizeof(Elf64_Sym) || section->sh_offset % sizeof(uint64_t) ||
	    !strings->sh_size || text[strings->sh_size - 1] != '\0')
		return false;
	*table = (struct tpc_symtab){ .file = elf->start,
				      .bytes = elf->bytes,
				      .symbols = (const Elf64_Sym *)(const void *)symbols,
				      .count = section->sh_size / sizeof(Elf64_Sym),
				      .strings = (const char *)text,
				      .string_bytes = strings->sh_size };
	return true;
}

/* The file may have been replaced since it was loaded. Without a build-id its headers tell. */
static bool is_loaded(const struct elf *elf, const struct dl_phdr_info *object, const struct id *id)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->start;
	size_t bytes = object->dlpi_phnum * sizeof(Elf64_Phdr);

	if (id->bytes)
		return has_id(elf, id);
	return header->e_phnum == object->dlpi_phnum && holds(elf->bytes, header->e_phoff, bytes) &&
	       memcmp(elf->start + header->e_phoff, object->dlpi_phdr, bytes) == 0;
}

/* The debug file of `elf`, whose symbol table was stripped. */
static bool open_debug(const char *path, const struct elf *elf, const struct id *id, struct tpc_symtab *table)
{
	const char *link = debug_link(elf);
	struct elf debug;

	if (!id->bytes)
		return false;
	if (!map_by_id(id, &debug) && !(link && map_by_link(path, link, id, &debug)))
		return false;
	if (has_id(&debug, id) && read_table(&debug, section_of(&debug, SHT_SYMTAB), table))
		return true;
	unmap(&debug);
	return false;
}

bool tpc_symtab_open(const struct dl_phdr_info *object, struct tpc_symtab *table)
{
	char own[4096];
	const char *path = object->dlpi_name;
	struct elf elf;
	struct id id;

	*table = (struct tpc_symtab){ 0 };
	if (!path || !*path) { /* the program; its folder is needed, too */
		long length = tpc_sys_readlink("/proc/self/exe", own, sizeof(own) - 1);

		own[length > 0 ? length : 0] = '\0';
		path = own;
	}
	if (!map(path == own ? "/proc/self/exe" : path, &elf))
		return false;
	id_loaded(object, &id);
	if (is_loaded(&elf, object, &id)) {
		if (read_table(&elf, section_of(&elf, SHT_SYMTAB), table))
			return true;
		if (open_debug(path, &elf, &id, table)) {
			unmap(&elf);
			return true;
		}
		if (read_table(&elf, section_of(&elf, SHT_DYNSYM), table))
			return true;
	}
	unmap(&elf);
	return false;
}

void tpc_symtab_close(struct tpc_symtab *table)
{
	if (table->file)
		tpc_sys_munmap((void *)(uintptr_t)table->file, table->bytes);
	*table = (struct tpc_symtab){ 0 };
}

const char *tpc_symtab_name(const struct tpc_symtab *table, size_t i)
{
	uint32_t at = table->symbols[i].st_name;

	return at < table->string_bytes ? table->strings + at : "";
}

bool tpc_symtab_is_function(const struct tpc_symtab *table, size_t i)
{
	const Elf64_Sym *symbol = &table->symbols[i];

	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && symbol->st_size > 0;
}

bool tpc_symtab_is_code(const struct tpc_symtab *table, size_t i)
{
	uint32_t type = ELF64_ST_TYPE(table->symbols[i].st_info);

	return (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC) &&
	       table->symbols[i].st_shndx != SHN_UNDEF;
}
