/* SPDX-License-Identifier: Apache-2.0 */
/* Caches, registries and pools of well-known libraries, which keep memory after the program is done with it. */
#ifndef TPROF_REPORT_ROWS_KNOWN_CACHES_H
#define TPROF_REPORT_ROWS_KNOWN_CACHES_H

#include "model/result/result.h"
#include "symbols/symbols.h"

/* The holder in words; NULL: TPA_HOLDER_NONE. */
const char *tpa_holder_name(enum tpa_holder holder);

/*
 * What holds the memory of a stack. The proof is the library's function that allocated it, which allocates for its
 * cache and for nothing else; or what the interpreter was doing: its own start, or the import of modules (the
 * program's own lines that run then are the program's). Looks at all frames, also at those that the symbols' options
 * hide.
 */
enum tpa_holder tpa_node_holder(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node);

/*
 * The same for mappings made by a stack. `file`: mappings of files, which no holder has. Python's arenas are also
 * known by their size, if the interpreter has no symbols.
 */
enum tpa_holder tpa_mapping_holder(const struct tpa_process *process, struct tpa_symbols *symbols, uint32_t node,
				   bool file);

/* Is the stack's Python code an import of installed modules? */
bool tpa_node_is_import(const struct tpa_trace *trace, uint32_t node);

#endif
