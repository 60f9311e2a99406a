/* SPDX-License-Identifier: Apache-2.0 */
/* Caches, registries and pools of well-known libraries, which keep memory when the program is done with it. */
#ifndef TPROF_REPORT_ROWS_KNOWN_CACHES_H
#define TPROF_REPORT_ROWS_KNOWN_CACHES_H

#include "model/result/result.h"
#include "symbols/symbols.h"

/* In words. NULL: TPA_HOLDER_NONE. */
const char *tpa_holder_name(enum tpa_holder holder);

/*
 * What holds the memory of a stack: proven by the library's function that allocated it, which does so for its cache and for
 * nothing else, or by what the interpreter was at: its own start, or the import of modules (the program's own lines that run
 * then are theirs). All frames are looked at, also those that the symbols' options do not show.
 */
enum tpa_holder tpa_node_holder(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node);

/* The same of mappings that a stack made; `file`: of files. Python's arenas are known by their size, too, where no name is left. */
enum tpa_holder tpa_mapping_holder(const struct tpa_process *process, struct tpa_symbols *symbols, uint32_t node,
				   bool file);

/* Is the stack's Python code an import of installed modules? */
bool tpa_node_is_import(const struct tpa_trace *trace, uint32_t node);

#endif
