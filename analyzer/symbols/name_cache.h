/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with the names of a module's places, one for each build-id and path, in a folder of at most TPA_NAME_CACHE_MOST bytes.
 * A file is replaced as a whole, so any number of programs may read and write at once; what two of them write at the same
 * moment, one of them loses. A file that is damaged, or whose witnesses changed, counts as missing.
 */
#ifndef TPROF_SYMBOLS_NAME_CACHE_H
#define TPROF_SYMBOLS_NAME_CACHE_H

#include "base/arena.h"
#include "base/pairs.h"
#include "symbols/location.h"
#include "symbols/witness.h"

#define TPA_NAME_CACHE_MOST (UINT64_C(64) << 20)

struct tpa_place {
	uint64_t address;      /* in the file: at run time, minus the load address */
	uint32_t first, count; /* of its locations */
};

struct tpa_place_list {
	struct tpa_pairs index; /* (address, 0) -> number of the place, from 1 on */
	struct tpa_place *places;
	size_t count, room;
	struct tpa_location *locations; /* their strings belong to the arena that was given */
	size_t location_count, location_room;
	struct tpa_witnesses witnesses;
	enum tpa_module_state state; /* of the module */
};

/* Adds a place that the list does not have. */
void tpa_place_add(struct tpa_place_list *list, uint64_t address, const struct tpa_location *locations, size_t count);
void tpa_place_list_free(struct tpa_place_list *list);

/*
 * The file for a module below a folder; the caller frees it. NULL: its names can't be kept, because it has no build-id to be
 * known by, or no path.
 */
char *tpa_name_cache_file(const char *folder, const struct tpa_module *module, const char *debug_dir);

/* Reads the places of a file; `list` is zeroed. Returns false, and leaves an empty list, if they do not hold. */
bool tpa_name_cache_read(const char *file, struct tpa_arena *arena, struct tpa_place_list *list);

/* Writes all places, sorted. Returns false if that was not possible, or if there are too many. */
bool tpa_name_cache_write(const char *file, const struct tpa_place_list *list);

/* Removes the files that were not used for longest until the folder has at most `most` bytes. */
void tpa_name_cache_shrink(const char *folder, uint64_t most);

#endif
