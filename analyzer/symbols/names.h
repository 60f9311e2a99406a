/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the places in a module's code. Each place is looked up once in all traces, and kept for later runs of the
 * analyzer (name_cache.h), so that a module whose places are all known need not be opened. Not thread-safe.
 */
#ifndef TPROF_SYMBOLS_NAMES_H
#define TPROF_SYMBOLS_NAMES_H

#include "symbols/location.h"
#include "trace/trace.h"

#define TPA_INLINED_MAX 64 /* most locations of one place */

struct tpa_names;

/* From now on, reads and keeps names in the folder for caches, unless TPROF_CACHE=off. Without this call nothing is kept. */
void tpa_names_use_cache(void);

/* The names of a module. Lives until the program ends; belongs to all modules that have the same file. */
struct tpa_names *tpa_names_of(const struct tpa_module *module, const char *debug_dir);

enum tpa_module_state tpa_names_state(const struct tpa_names *names);

/* Was a file of the right build found? */
bool tpa_names_are_found(const struct tpa_names *names);

/*
 * The locations of an address at run time, innermost first; at least one, whose function may be NULL. `known` and `number` are
 * not set. `module` and `debug_dir`: as given to tpa_names_of(). Valid until the next call; the strings live until the
 * program ends.
 */
const struct tpa_location *tpa_names_find(struct tpa_names *names, const struct tpa_module *module,
					  const char *debug_dir, uint64_t address, size_t *count);

/* Keeps what was looked up for later runs. Says nothing if that is not possible. */
void tpa_names_keep(void);

#endif
