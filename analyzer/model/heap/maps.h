/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address space taken by mmap: which range belongs to which site. A treap of ranges that do not overlap; a new mapping
 * replaces what was there, an unmap cuts what it meets.
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
	uint64_t start, end; /* bytes; end is behind the last */
	uint32_t site;	     /* index in tpa_maps.sites */
};

struct tpa_ranges {
	struct tpa_range *list;
	size_t count, room;
};

struct tpa_maps {
	const struct tpa_trace *trace;
	struct tpa_map_node *nodes; /* [0] is no node */
	size_t node_count, node_room;
	uint32_t root, spare; /* spare: unused nodes, linked */
	uint64_t random;

	struct tpa_map_state *sites;
	size_t site_count, site_room;
	uint32_t *table; /* hash table of sites: index + 1, 0 empty */
	unsigned bits;

	uint64_t live, peak, peak_number;
	bool counting; /* peaks count: the time that is looked at has begun */

	struct tpa_ranges removed; /* what the last tpa_maps_remove() took away */
};

void tpa_maps_init(struct tpa_maps *maps, const struct tpa_trace *trace);
void tpa_maps_free(struct tpa_maps *maps);

/* Peaks count from here on; what is mapped now is the first. */
void tpa_maps_begin(struct tpa_maps *maps);

/* An empty range does nothing. */
void tpa_maps_add(struct tpa_maps *maps, uint64_t start, uint64_t end, uint32_t node, bool file);
void tpa_maps_remove(struct tpa_maps *maps, uint64_t start, uint64_t end);
void tpa_maps_restore(struct tpa_maps *maps, const struct tpa_range *ranges, size_t count);

/* What is mapped, by address; `site` is an index of maps->sites. The caller frees it. */
struct tpa_range *tpa_maps_ranges(const struct tpa_maps *maps, size_t *count);

/* Saves, or loads into maps that were just initialized. */
void tpa_maps_archive(struct tpa_archive *archive, struct tpa_maps *maps);

/* Whether all ranges have a site: for those that were loaded. */
bool tpa_maps_ranges_valid(const struct tpa_maps *maps, const struct tpa_ranges *ranges);

/* Calls take() for each range that overlaps [start, end), by address. */
void tpa_maps_each_in(const struct tpa_maps *maps, uint64_t start, uint64_t end,
		      void (*take)(void *context, uint64_t start, uint64_t end, uint32_t site), void *context);

/* The sites, to be freed by the caller. */
struct tpa_map_site *tpa_maps_result(struct tpa_maps *maps, size_t *count);

#endif
