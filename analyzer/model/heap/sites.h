/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: the keys by which the heap's blocks are counted (a stack and, depending on the group, a thread, size, step or
 * layer).
 *
 * Peaks are tracked lazily. A site keeps its amounts at the last peak that it knows of, and the number of that peak.
 * Call tpa_site_touch() before each change of a site. If there was a peak since, the site's amounts at that peak are
 * those that it has now.
 */
#ifndef TPROF_MODEL_HEAP_SITES_H
#define TPROF_MODEL_HEAP_SITES_H

#include "trace/events.h"
#include "model/heap/estimate.h"
#include "model/heap/heap.h"
#include "model/options.h"

struct tpa_archive;

struct tpa_amount {
	uint64_t bytes, blocks, usable;
};

struct tpa_site_state {
	struct tpa_amount live, peak;
	/* Event times: bounds of when the blocks that are live, or were live at the peak, were born. */
	struct tpa_born born, peak_born;
	uint64_t peak_number;
	uint64_t allocations;

	uint64_t frees, bytes, temporary, short_lived, largest;
	struct tpa_amount before; /* part of `live`: allocated before the selected time range */
	uint64_t before_largest;
	uint64_t key;
	uint32_t node, op;
};

enum {
	TPA_SITE_NONE = 0,    /* no site: an empty slot of the table of live blocks */
	TPA_SITE_IGNORED = 1, /* blocks that a filter excludes from the counts */
	TPA_SITE_FIRST = 2,
	TPA_SITES_TOGETHER = 64, /* sites that share one byte of tpa_sites.changed */
};

struct tpa_sites {
	const struct tpa_trace *trace;
	struct tpa_site_state *list;
	size_t count, room;
	/*
	 * One byte for each TPA_SITES_TOGETHER sites. All of its bits are set when the live memory of one of them
	 * changes.
	 */
	uint8_t *changed;
	size_t changed_room;
	uint32_t *
		of_number; /* when grouped by stack: of each number that the file has for a node, its site outside of any op, if known */
	size_t number_count, number_room;
	uint32_t *of_node; /* of each node of the trace, its site without key and op, if known */
	size_t node_count, node_room;
	uint32_t *table; /* hash table of the sites with a key or an op */
	size_t table_count;
	unsigned bits;
	bool totals; /* TPA_GROUP_NONE: most stacks share one site */
	struct tpa_passing passing;
};

void tpa_sites_init(struct tpa_sites *sites, const struct tpa_trace *trace);
void tpa_sites_free(struct tpa_sites *sites);

/* The number of the site. Adds it if it is new. `node` is a node of the trace. */
uint32_t tpa_sites_enter(struct tpa_sites *sites, uint32_t node, uint64_t key, uint32_t op);

/* The site of an event's stack alone, the first time. */
uint32_t tpa_sites_enter_stack(struct tpa_sites *sites, const struct tpa_event *event);

/* An event's site, when blocks are grouped by stack and it is in no op, or not grouped. */
static inline uint32_t tpa_sites_of_stack(struct tpa_sites *sites, const struct tpa_event *event)
{
	uint32_t site = event->node < sites->number_count ? sites->of_number[event->node] : TPA_SITE_NONE;

	return __builtin_expect(site != TPA_SITE_NONE, 1) ? site : tpa_sites_enter_stack(sites, event);
}

/*
 * Marks a site as changed. Each part that looks at all sites now and then has its own bit, and clears it. So it can
 * skip sites that did not change: most sites of a long run never change again.
 */
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
 * Call before a block that was born at `time` becomes live. The bounds start anew whenever nothing of the site is live:
 * what becomes live later was born since.
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

/* Saves, or loads into sites that were newly initialized with the same group. */
void tpa_sites_archive(struct tpa_archive *archive, struct tpa_sites *sites);

/* A site as the model shows it, by exact counts. tpa_site_touch() it first. */
struct tpa_site tpa_site_shown(const struct tpa_site_state *state);

/*
 * Uses up the sites: makes their list that of the sites as the model shows them, which the caller frees. Sites whose counts are
 * all 0 are left out. `estimates`: they replace the counts; NULL: the counts are exact. `variances` has room for all sites then.
 */
struct tpa_site *tpa_sites_take(struct tpa_sites *sites, uint64_t peak_number, struct tpa_estimates *estimates,
				struct tpa_variance *variances, size_t *count);

#endif
