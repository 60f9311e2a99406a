/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: what the heap's blocks are counted by. The peak costs nothing until it is asked for: a site keeps what it had at
 * the last peak that it knows of, and the number of that peak. Whoever is about to change the site calls
 * tpa_site_touch() first; if there was a peak since, the site had at it what it has now.
 */
#ifndef TPROF_MODEL_HEAP_SITES_H
#define TPROF_MODEL_HEAP_SITES_H

#include "model/heap/estimate.h"
#include "model/heap/heap.h"
#include "model/options.h"

struct tpa_archive;

struct tpa_amount {
	uint64_t bytes, blocks, usable;
};

struct tpa_site_state {
	struct tpa_amount live, peak;
	struct tpa_born born, peak_born; /* event times: bounds of when what is live, or was at the peak, was born */
	uint64_t peak_number;
	uint64_t allocations;

	uint64_t frees, bytes, temporary, short_lived, largest;
	struct tpa_amount before; /* the part of `live` that was allocated before the time that is looked at */
	uint64_t before_largest;
	uint64_t key;
	uint32_t node, op;
};

enum {
	TPA_SITE_NONE = 0,    /* no site: an empty slot of the table of live blocks */
	TPA_SITE_IGNORED = 1, /* blocks that a filter keeps out of the counts */
	TPA_SITE_FIRST = 2,
	TPA_SITES_TOGETHER = 64, /* sites with one byte for all that says whether one of them changed */
};

struct tpa_sites {
	const struct tpa_trace *trace;
	struct tpa_site_state *list;
	size_t count, room;
	uint8_t *changed; /* of TPA_SITES_TOGETHER each: all bits, once what is live of one has changed */
	size_t changed_room;
	uint32_t *of_node; /* grouped by stack alone: the site of each node, of blocks that no op allocated */
	size_t node_count, node_room;
	uint32_t *table; /* of the other sites: a hash table */
	unsigned bits;
};

void tpa_sites_init(struct tpa_sites *sites, const struct tpa_trace *trace, enum tpa_group group);
void tpa_sites_free(struct tpa_sites *sites);

/* The number of a new or known site. `node` as in the file. */
uint32_t tpa_sites_enter(struct tpa_sites *sites, uint32_t node);
uint32_t tpa_sites_enter_key(struct tpa_sites *sites, uint32_t node, uint64_t key, uint32_t op);

/* Site of a stack when sites are stacks. */
static inline uint32_t tpa_sites_of_node(struct tpa_sites *sites, uint32_t node)
{
	uint32_t site = node < sites->node_count ? sites->of_node[node] : TPA_SITE_NONE;

	return __builtin_expect(site != TPA_SITE_NONE, 1) ? site : tpa_sites_enter(sites, node);
}

/* For who looks at all sites now and then, and clears a bit of its own: most sites of a long run never change again. */
static inline void tpa_sites_changed(struct tpa_sites *sites, uint32_t site)
{
	sites->changed[site / TPA_SITES_TOGETHER] = UINT8_MAX;
}

static inline void tpa_site_touch(struct tpa_site_state *site, uint64_t peak_number)
{
	if (site->peak_number != peak_number) {
		site->peak_number = peak_number;
		site->peak = site->live;
		site->peak_born = site->born;
	}
}

/*
 * A block that was born then is about to live. Bounds begin anew whenever nothing of the site is live: what lives later
 * was born since.
 */
static inline void tpa_site_born(struct tpa_site_state *site, uint64_t time)
{
	if (!site->live.blocks)
		site->born = (struct tpa_born){ time, time };
	else if (time > site->born.last)
		site->born.last = time;
	else if (time < site->born.first)
		site->born.first = time;
}

static inline void tpa_amount_add(struct tpa_amount *amount, uint64_t bytes, uint64_t usable)
{
	amount->bytes += bytes;
	amount->blocks++;
	amount->usable += usable;
}

static inline void tpa_amount_sub(struct tpa_amount *amount, uint64_t bytes, uint64_t usable)
{
	amount->bytes -= bytes;
	amount->blocks--;
	amount->usable -= usable;
}

/* Saves, or loads into sites that were just initialized for the same grouping. */
void tpa_sites_archive(struct tpa_archive *archive, struct tpa_sites *sites);

/*
 * The sites as the model shows them, to be freed by the caller; those without any count are left out. `estimates`: what
 * takes the counts' place, or NULL.
 */
struct tpa_site *tpa_sites_result(struct tpa_sites *sites, uint64_t peak_number, struct tpa_estimates *estimates,
				  size_t *count);

#endif
