/* SPDX-License-Identifier: Apache-2.0 */
/* The functions in a module's symbol tables, sorted once, because libdwfl's lookup by address scans all symbols. */
#ifndef TPROF_SYMBOLS_SYMTAB_H
#define TPROF_SYMBOLS_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdwfl.h>

struct tpa_symtab {
	struct tpa_symtab_entry *entries;
	size_t count;
};

/* Addresses are run-time addresses for the base at which `module` was reported. */
void tpa_symtab_load(struct tpa_symtab *symtab, Dwfl_Module *module);
void tpa_symtab_free(struct tpa_symtab *symtab);

/* Returns the name in the symbol table, owned by `module`; NULL if no symbol covers the address. */
const char *tpa_symtab_find(const struct tpa_symtab *symtab, Dwarf_Addr address);

#endif
