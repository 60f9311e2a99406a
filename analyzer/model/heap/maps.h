/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address space taken by mmap, and the site that mapped each range. A treap of ranges that do not overlap: a new
 * mapping replaces what was there, and an unmap cuts the ranges that it overlaps.
 */
#ifndef TPROF_MODEL_HEAP_MAPS_H
#define TPROF_MODEL_HEAP_MAPS_H

#include "model/heap/heap.h"

struct tpa_archive;

struct tpa_map_state {
	uint32_t node;
	bool file;
	uint64_t calls, bytes, live, peak, peak_number;
};

struct tpa_range {
	uint64_t start, end; /* byte addresses; `end` is exclusive */
	uint32_t site;	     /* index in tpa_maps.sites */
};

struct tpa_ranges {
	struct tpa_range *list;
	size_t count, room;
};

/* A range that was mapped by a stack, or (node TPROF_NODE_NONE, `removed`) is mapped no longer. */
struct tpa_map_change {
	uint64_t start, end;
	uint32_t node;
	bool file, removed;
};

struct tpa_map_changes {
	struct tpa_map_change *list;
	size_t count, room;
};

struct tpa_maps {
	struct tpa_map_node *nodes; /* [0] stands for no node */
	size_t node_count, node_room;
	uint32_t root, spare; /* `spare`: head of the list of unused nodes */
	uint64_t random;

	struct tpa_map_state *sites;
	size_t site_count, site_room;
	uint32_t *table; /* hash table of sites: index + 1, 0 empty */
	unsigned bits;

	uint64_t live, peak, peak_number;
	bool counting; /* the selected time range has begun: calls, bytes and peaks count */

	struct tpa_map_changes *told; /* where each change is added; NULL: nowhere */
	struct tpa_ranges removed;    /* the ranges that the last tpa_maps_remove() took away */
};

void tpa_maps_init(struct tpa_maps *maps);
void tpa_maps_free(struct tpa_maps *maps);

/* Starts counting calls, bytes and peaks. The first peak is what is mapped now. */
void tpa_maps_begin(struct tpa_maps *maps);

/*
 * Each replaces what was mapped in the range, and stores it in maps->removed. An empty range changes nothing.
 * tpa_maps_restore() maps removed ranges again, with their sites; `ranges` must not be maps->removed.list.
 */
void tpa_maps_add(struct tpa_maps *maps, uint64_t start, uint64_t end, uint32_t node, bool file);
void tpa_maps_remove(struct tpa_maps *maps, uint64_t start, uint64_t end);
void tpa_maps_restore(struct tpa_maps *maps, const struct tpa_range *ranges, size_t count);

/* What is mapped, sorted by address. `site` is an index into maps->sites. The caller frees the list. */
struct tpa_range *tpa_maps_ranges(const struct tpa_maps *maps, size_t *count);

/* Saves, or loads into newly initialized maps. */
void tpa_maps_archive(struct tpa_archive *archive, struct tpa_maps *maps);

/* Whether all ranges are non-empty and have a valid site. Checks ranges that were loaded. */
bool tpa_maps_ranges_valid(const struct tpa_maps *maps, const struct tpa_ranges *ranges);

/* Calls take() for each range that overlaps [start, end), in order of address, with the whole range. */
void tpa_maps_each_in(const struct tpa_maps *maps, uint64_t start, uint64_t end,
		      void (*take)(void *context, uint64_t start, uint64_t end, uint32_t site), void *context);

/* The sites that ever counted or held a mapping. The caller frees the list. */
struct tpa_map_site *tpa_maps_result(struct tpa_maps *maps, size_t *count);

#endif
