/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/symtab.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

struct tpa_symtab_entry {
	Dwarf_Addr start,
		end;	  /* end == start: the size is unknown; it extends to the next symbol or the section's end */
	Dwarf_Addr limit; /* largest end of this and all earlier entries: bounds the search to the left */
	Dwarf_Addr section_end;
	const char *name;
	uint8_t rank; /* among symbols at one address; lower is better */
};

/* Prefers sized symbols, then global over weak over local, then fewer underscores, then shorter names. */
static uint8_t rank_symbol(const GElf_Sym *symbol, const char *name)
{
	unsigned int bind = GELF_ST_BIND(symbol->st_info);
	unsigned int rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;

	rank = 4 * rank + (name[0] == '_' ? 1u + (name[1] == '_') : 0u);
	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		rank += 16;
	return (uint8_t)(rank + (symbol->st_size ? 0 : 32));
}

static int compare(const void *left, const void *right)
{
	const struct tpa_symtab_entry *a = left, *b = right;

	/* worst name first: a search from the right meets the best one first */
	return TPA_UP(a->start, b->start) ?: TPA_DOWN(a->rank, b->rank) ?: TPA_DOWN(strlen(a->name), strlen(b->name)) ?:
	       strcmp(b->name, a->name);
}

/* Can it be a function? Data symbols and assembler markers ($x, .L1) are not. */
static bool is_code(const GElf_Sym *symbol, const char *name, GElf_Word section)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	if (!name || !*name || symbol->st_shndx == SHN_UNDEF || section == SHN_ABS)
		return false;
	if (type == STT_NOTYPE)
		return name[0] != '$' && name[0] != '.';
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static Dwarf_Addr section_end(Elf *elf, GElf_Word index, GElf_Addr bias)
{
	GElf_Shdr header;
	Elf_Scn *section = elf ? elf_getscn(elf, index) : NULL;

	if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	return header.sh_addr + header.sh_size + bias;
}

static void add_symbol(struct tpa_symtab *symtab, Dwfl_Module *module, int index)
{
	struct tpa_symtab_entry *entry = &symtab->entries[symtab->count];
	GElf_Word section = 0;
	GElf_Addr value = 0, bias = 0;
	GElf_Sym symbol;
	Elf *elf = NULL;
	const char *name = dwfl_module_getsym_info(module, index, &symbol, &value, &section, &elf, &bias);

	if (!name || !is_code(&symbol, name, section))
		return;
	entry->section_end = symbol.st_size && GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE
				     ? UINT64_MAX
				     : section_end(elf, section, bias);
	if (!entry->section_end) /* a label outside of code */
		return;
	entry->start = value;
	entry->end = value + symbol.st_size;
	entry->name = name;
	entry->rank = rank_symbol(&symbol, name);
	symtab->count++;
}

void tpa_symtab_load(struct tpa_symtab *symtab, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module);
	Dwarf_Addr limit = 0;

	memset(symtab, 0, sizeof(*symtab));
	if (count <= 0)
		return;
	symtab->entries = tpa_zalloc((size_t)count, sizeof(*symtab->entries));
	for (int i = 0; i < count; i++)
		add_symbol(symtab, module, i);
	qsort(symtab->entries, symtab->count, sizeof(*symtab->entries), compare);
	for (size_t i = 0; i < symtab->count; i++) {
		if (symtab->entries[i].end > limit)
			limit = symtab->entries[i].end;
		symtab->entries[i].limit = limit;
	}
}

void tpa_symtab_free(struct tpa_symtab *symtab)
{
	free(symtab->entries);
	memset(symtab, 0, sizeof(*symtab));
}

const char *tpa_symtab_find(const struct tpa_symtab *symtab, Dwarf_Addr address)
{
	const struct tpa_symtab_entry *entries = symtab->entries, *nearest;
	size_t next = TPA_UP_TO(entries, symtab->count, start, address);

	for (size_t i = next; i-- > 0 && address < entries[i].limit;) {
		if (address < entries[i].end)
			return entries[i].name;
	}
	/* only the nearest symbol may extend beyond its recorded size */
	nearest = next ? &entries[next - 1] : NULL;
	return nearest && nearest->start == nearest->end && address < nearest->section_end ? nearest->name : NULL;
}
