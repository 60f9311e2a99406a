/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF functions and what is inlined into them, found by address. Each compilation unit and each function is read when
 * an address in it is first asked for, and kept: reading the scopes anew for every address takes a millisecond each.
 */
#ifndef TPROF_SYMBOLS_SCOPES_H
#define TPROF_SYMBOLS_SCOPES_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

#include "base/arena.h"
#include "symbols/location.h"

struct tp_scopes;

/* NULL if the module has no DWARF (or memory is out). Strings of answers live in `arena`. */
struct tp_scopes *tp_scopes_new(Dwfl_Module *module, struct tp_arena *arena);
void tp_scopes_free(struct tp_scopes *scopes);

/*
 * Fills up to `max` locations for a run-time address, innermost first, and returns how many there are; 0 if DWARF
 * knows nothing of it. The last one, the function that really is there, may have a NULL function where only the line is
 * known.
 */
size_t tp_scopes_find(struct tp_scopes *scopes, Dwarf_Addr address, struct tp_location *locations, size_t max);

#endif
