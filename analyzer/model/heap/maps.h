/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address space taken by mmap: which range belongs to which site. A treap of ranges that do not overlap; a new mapping
 * replaces what was there, an unmap cuts what it meets.
 */
#ifndef TPROF_MODEL_HEAP_MAPS_H
#define TPROF_MODEL_HEAP_MAPS_H

#include "model/heap/heap.h"

struct tp_archive;

struct tp_map_state {
	uint32_t node;
	bool file;
	uint64_t calls, bytes, live, peak, peak_number;
};

struct tp_range {
	uint64_t start, end; /* bytes; end is behind the last */
	uint32_t site;	     /* index in tp_maps.sites */
};

struct tp_ranges {
	struct tp_range *list;
	size_t count, room;
};

struct tp_maps {
	const struct tp_trace *trace;
	struct tp_map_node *nodes; /* [0] is no node */
	size_t node_count, node_room;
	uint32_t root, spare; /* spare: unused nodes, linked */
	uint64_t random;

	struct tp_map_state *sites;
	size_t site_count, site_room;
	uint32_t *table; /* hash table of sites: index + 1, 0 empty */
	unsigned bits;

	uint64_t live, peak, peak_number;
	bool counting; /* peaks count: the time that is looked at has begun */

	struct tp_ranges removed; /* what the last tp_maps_remove() took away */
};

void tp_maps_init(struct tp_maps *maps, const struct tp_trace *trace);
void tp_maps_free(struct tp_maps *maps);

/* Peaks count from here on; what is mapped now is the first. */
void tp_maps_begin(struct tp_maps *maps);

/* An empty range does nothing. */
void tp_maps_add(struct tp_maps *maps, uint64_t start, uint64_t end, uint32_t node, bool file);
void tp_maps_remove(struct tp_maps *maps, uint64_t start, uint64_t end);
void tp_maps_restore(struct tp_maps *maps, const struct tp_range *ranges, size_t count);

/* What is mapped, by address; `site` is an index of maps->sites. The caller frees it. */
struct tp_range *tp_maps_ranges(const struct tp_maps *maps, size_t *count);

/* Saves, or loads into maps that were just initialized. */
void tp_maps_archive(struct tp_archive *archive, struct tp_maps *maps);

/* Whether all ranges have a site: for those that were loaded. */
bool tp_maps_ranges_valid(const struct tp_maps *maps, const struct tp_ranges *ranges);

/* Calls take() for each range that overlaps [start, end), by address. */
void tp_maps_each_in(const struct tp_maps *maps, uint64_t start, uint64_t end,
		     void (*take)(void *context, uint64_t start, uint64_t end, uint32_t site), void *context);

/* The sites, to be freed by the caller. */
struct tp_map_site *tp_maps_result(struct tp_maps *maps, size_t *count);

#endif
