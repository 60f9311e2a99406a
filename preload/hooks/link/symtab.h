/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a loaded object that no pointer of the loader leads to: static ones, too. They stand in the symbol table
 * of its file, or, if that is stripped, of its separate debug file (by build-id, or by .gnu_debuglink); else the exported
 * ones in .dynsym remain.
 */
#ifndef TPROF_LINK_SYMTAB_H
#define TPROF_LINK_SYMTAB_H

#include "core/base.h"

#include <elf.h>
#include <link.h>

struct tpc_symtab {
	const uint8_t *file; /* mapped; NULL: none */
	size_t bytes;
	const Elf64_Sym *symbols;
	size_t count;
	const char *strings; /* NUL-terminated */
	size_t string_bytes;
};

/*
 * Maps the table of that object; makes system calls only. False: there is none, or none of the very file that is loaded.
 * Else tpc_symtab_close().
 */
bool tpc_symtab_open(const struct dl_phdr_info *object, struct tpc_symtab *table);
void tpc_symtab_close(struct tpc_symtab *table);

/* The name of symbol `i`, "" if it has none; and whether it is a function of known size, not an IFUNC. */
const char *tpc_symtab_name(const struct tpc_symtab *table, size_t i);
bool tpc_symtab_is_function(const struct tpc_symtab *table, size_t i);

/* May it stand for a place in code? */
bool tpc_symtab_is_code(const struct tpc_symtab *table, size_t i);

#endif
