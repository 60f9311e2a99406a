/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a pprof profile: strings, functions, locations and mappings. Each entry is written when it is first asked for, and
 * then known by its number. Memory grows with the distinct places in the code.
 */
#ifndef TPROF_EXPORT_PPROF_TABLES_H
#define TPROF_EXPORT_PPROF_TABLES_H

#include "base/arena.h"
#include "base/pairs.h"
#include "export/gzip.h"
#include "export/packer.h"
#include "export/pprof.pb-c.h"
#include "report/rows/stack.h"

struct tpa_pprof {
	struct tpa_gzip *gzip;
	struct tpa_packer packer;
	struct tpa_arena *arena;
	struct tpa_pairs strings, functions, locations, mappings; /* to their numbers */
	int64_t string_count;
	uint32_t function_count, location_count, mapping_count;
};

void tpa_pprof_begin(struct tpa_pprof *pprof, FILE *out);
/* False: the file could not be written. */
bool tpa_pprof_end(struct tpa_pprof *pprof);

/* Writes a part of the profile. */
void tpa_pprof_write(struct tpa_pprof *pprof, const Pprof__Profile *part);

/* The number of a text; 0: it is NULL or empty. Bytes that are no UTF-8 and control characters become '?'. */
int64_t tpa_pprof_string(struct tpa_pprof *pprof, const char *text);

/* The number of a module that traces[which] has. */
uint64_t tpa_pprof_mapping(struct tpa_pprof *pprof, size_t which, const struct tpa_module *module);

/*
 * The numbers of the places in lines [first, last) of the stack, innermost first; functions that were inlined share the place of
 * the function that they are in. `ids` has room for all lines. Returns how many there are.
 */
size_t tpa_pprof_locations(struct tpa_pprof *pprof, size_t which, const struct tpa_stack *stack, size_t first,
			   size_t last, uint64_t *ids);

#endif
