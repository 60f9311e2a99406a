/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: what the heap's blocks are counted by. The peak costs nothing until it is asked for: a site keeps what it had at
 * the last peak that it knows of, and the number of that peak. Whoever is about to change the site calls
 * tp_site_touch() first; if there was a peak since, the site had at it what it has now.
 */
#ifndef TPROF_MODEL_HEAP_SITES_H
#define TPROF_MODEL_HEAP_SITES_H

#include "model/heap/estimate.h"
#include "model/heap/heap.h"
#include "model/options.h"

struct tp_archive;

struct tp_amount {
	uint64_t bytes, blocks, usable;
};

struct tp_site_state {
	struct tp_amount live, peak;
	struct tp_born born, peak_born; /* event times: bounds of when what is live, or was at the peak, was born */
	uint64_t peak_number;
	uint64_t allocations;

	uint64_t frees, bytes, temporary, short_lived, largest;
	struct tp_amount before; /* the part of `live` that was allocated before the time that is looked at */
	uint64_t before_largest;
	uint64_t key;
	uint32_t node, op;
};

enum {
	TP_SITE_NONE = 0,    /* no site: an empty slot of the table of live blocks */
	TP_SITE_IGNORED = 1, /* blocks that a filter keeps out of the counts */
	TP_SITE_FIRST = 2,
	TP_SITES_TOGETHER = 64, /* sites with one byte for all that says whether one of them changed */
};

struct tp_sites {
	const struct tp_trace *trace;
	struct tp_site_state *list;
	size_t count, room;
	uint8_t *changed; /* of TP_SITES_TOGETHER each: all bits, once what is live of one has changed */
	size_t changed_room;
	uint32_t *of_node; /* grouped by stack alone: the site of each node, of blocks that no op allocated */
	uint32_t *table;   /* of the other sites: a hash table */
	unsigned bits;
};

void tp_sites_init(struct tp_sites *sites, const struct tp_trace *trace, enum tp_group group);
void tp_sites_free(struct tp_sites *sites);

/* The number of a new or known site. `node` as in the file. */
uint32_t tp_sites_enter(struct tp_sites *sites, uint32_t node);
uint32_t tp_sites_enter_key(struct tp_sites *sites, uint32_t node, uint64_t key, uint32_t op);

/* Site of a stack when sites are stacks. */
static inline uint32_t tp_sites_of_node(struct tp_sites *sites, uint32_t node)
{
	uint32_t site = node < sites->trace->node_count ? sites->of_node[node] : TP_SITE_NONE;

	return __builtin_expect(site != TP_SITE_NONE, 1) ? site : tp_sites_enter(sites, node);
}

/* For who looks at all sites now and then, and clears a bit of its own: most sites of a long run never change again. */
static inline void tp_sites_changed(struct tp_sites *sites, uint32_t site)
{
	sites->changed[site / TP_SITES_TOGETHER] = UINT8_MAX;
}

static inline void tp_site_touch(struct tp_site_state *site, uint64_t peak_number)
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
static inline void tp_site_born(struct tp_site_state *site, uint64_t time)
{
	if (!site->live.blocks)
		site->born = (struct tp_born){ time, time };
	else if (time > site->born.last)
		site->born.last = time;
	else if (time < site->born.first)
		site->born.first = time;
}

static inline void tp_amount_add(struct tp_amount *amount, uint64_t bytes, uint64_t usable)
{
	amount->bytes += bytes;
	amount->blocks++;
	amount->usable += usable;
}

static inline void tp_amount_sub(struct tp_amount *amount, uint64_t bytes, uint64_t usable)
{
	amount->bytes -= bytes;
	amount->blocks--;
	amount->usable -= usable;
}

/* Saves, or loads into sites that were just initialized for the same grouping. */
void tp_sites_archive(struct tp_archive *archive, struct tp_sites *sites);

/*
 * The sites as the model shows them, to be freed by the caller; those without any count are left out. `estimates`: what
 * takes the counts' place, or NULL.
 */
struct tp_site *tp_sites_result(struct tp_sites *sites, uint64_t peak_number, struct tp_estimates *estimates,
				size_t *count);

#endif
