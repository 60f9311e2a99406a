/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF functions and the functions inlined into them, found by address. Each compilation unit and each function is
 * read when an address in it is first requested, and kept: reading the scopes again for every address takes a
 * millisecond each.
 */
#ifndef TPROF_SYMBOLS_SCOPES_H
#define TPROF_SYMBOLS_SCOPES_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

#include "base/arena.h"
#include "symbols/location.h"

struct tpa_scopes;

/* NULL if the module has no DWARF. Strings of answers are allocated in `arena`. */
struct tpa_scopes *tpa_scopes_new(Dwfl_Module *module, struct tpa_arena *arena);
void tpa_scopes_free(struct tpa_scopes *scopes);

/*
 * Fills up to `max` locations for a run-time address, innermost first, and returns their number; 0 if DWARF does not
 * cover the address. The last location is the function that is not inlined; its name may be NULL if only the line is
 * known.
 */
size_t tpa_scopes_find(struct tpa_scopes *scopes, Dwarf_Addr address, struct tpa_location *locations, size_t max);

#endif
