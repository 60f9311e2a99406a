/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds DWARF functions, and the functions inlined into them, by address. Reads each compilation unit and function on
 * first use and caches it: rereading the scopes takes a millisecond per address.
 */
#ifndef TPROF_SYMBOLS_SCOPES_H
#define TPROF_SYMBOLS_SCOPES_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

#include "base/arena.h"
#include "symbols/location.h"

struct tpa_scopes;

/* Returns NULL if the module has no DWARF. Allocates the strings of results in `arena`. */
struct tpa_scopes *tpa_scopes_new(Dwfl_Module *module, struct tpa_arena *arena);

/* Does some of the module's DWARF lie in files of its own (-gsplit-dwarf)? */
bool tpa_scopes_are_split(const struct tpa_scopes *scopes);
void tpa_scopes_free(struct tpa_scopes *scopes);

/*
 * Fills up to `max` locations for a run-time address, innermost first, and returns their number; 0 if DWARF does not
 * cover the address. The last location is the function that is not inlined; its name may be NULL if only the line is
 * known.
 */
size_t tpa_scopes_find(struct tpa_scopes *scopes, Dwarf_Addr address, struct tpa_location *locations, size_t max);

#endif
