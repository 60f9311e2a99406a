/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grows with the steps: live bytes and blocks of each site, looked at in some of the steps' ends; model/stats/trend.h says
 * what that means. At most TPA_TREND_MAX steps are kept, of a long run every second, fourth, ... one, and of each such
 * interval a step at random, so that what comes and goes at a rate of its own does not look like growth (stochastic sampling,
 * Cook 1986). Looking costs a pass over the sites that changed since the last look, some 64 times for each doubling of the steps;
 * between, an event pays a store. Memory grows with the sites, and only sites that change between looks get a series. The same
 * of mappings, by their sites.
 *
 * Of a run without steps, slices of time take their place.
 */
#ifndef TPROF_MODEL_GROWTH_GROWTH_H
#define TPROF_MODEL_GROWTH_GROWTH_H

#include "model/samples/allocator.h"
#include "model/samples/resident.h"
#include "model/samples/timeline.h"
#include "model/growth/growth_stats.h"
#include "model/heap/estimate.h"
#include "model/heap/live.h"
#include "model/heap/maps.h"
#include "model/heap/sites.h"
#include "model/options.h"
#include "model/steps/step_stats.h"
#include "model/stats/trend.h"
#include "trace/payload.h"

struct tpa_archive;

/* What growth reads of the other parts. It changes only sites->changed, in which each growth has a bit of its own. */
struct tpa_growth_inputs {
	const struct tpa_trace *trace;
	const struct tpa_replay_options *options;
	uint64_t start_ns; /* of the process, since the run's start */
	uint64_t last;	   /* time of the last event */
	struct tpa_sites *sites;
	const struct tpa_estimates *estimates; /* NULL: allocations were not sampled */
	const struct tpa_maps *maps;
	const struct tpa_live *live;
	const struct tpa_outlived *outlived;
	const struct tpa_makeup *makeup;
	const struct tpa_point *now;
	const struct tpa_memory_parts *parts;
	const struct tpa_allocator *allocator;
	uint64_t allocator_live; /* live bytes when the allocator said this */
};

/* Of the whole process at one look. */
struct tpa_growth_whole {
	uint64_t live, blocks, anonymous, file, rss; /* blocks: their number; the others are bytes */
	struct tpa_memory_parts parts;
	struct tpa_allocator allocator;
	uint64_t allocator_live; /* when it said this */
};

struct tpa_growth_state; /* a site's */

struct tpa_growth_states {
	struct tpa_growth_state *list;
	size_t count, room;
};

struct tpa_growth {
	uint64_t at[TPA_TREND_MAX];   /* number of the step, or event time */
	uint64_t time[TPA_TREND_MAX]; /* event time */
	struct tpa_growth_whole whole[TPA_TREND_MAX];
	size_t count;
	uint64_t stride, due;		      /* due: when to look next; UINT64_MAX: never */
	uint8_t bit;			      /* of tpa_sites.changed: its own */
	bool survivors;			      /* they were counted */
	struct tpa_growth_states sites, maps; /* as the replay's sites, and the sites of its mappings */
};

/* Looks will be at stride, 2 * stride, ... or more seldom. Of all that look at the same sites each has a bit of its own. */
void tpa_growth_init(struct tpa_growth *growth, uint64_t stride, uint8_t bit);
void tpa_growth_free(struct tpa_growth *growth);

/* Looks, at a time that is due. */
void tpa_growth_look(struct tpa_growth *growth, const struct tpa_growth_inputs *in, uint64_t now);

/* The looks that were due before that time, while nothing happened. */
void tpa_growth_look_back(struct tpa_growth *growth, const struct tpa_growth_inputs *in, uint64_t now);

/* Nothing more, and what was seen is forgotten. */
void tpa_growth_drop(struct tpa_growth *growth);

/* Saves, or loads into growth that holds nothing. */
void tpa_growth_archive(struct tpa_archive *archive, struct tpa_growth *growth);

/*
 * Counts which blocks of each site live yet when the last step ends: before tpa_growth_result(), which else takes it for unknown.
 * It is of a run that was sampled, too.
 */
void tpa_growth_survivors(struct tpa_growth *growth, const struct tpa_growth_inputs *in);

/*
 * Fills *stats from what was seen. `seconds`: `at` holds event times. With options->keep_growth the sites' series are moved to
 * stats->kept.
 */
void tpa_growth_result(struct tpa_growth *growth, const struct tpa_growth_inputs *in, bool seconds,
		       struct tpa_growth_stats *stats);
void tpa_growth_result_free(struct tpa_growth_stats *stats);

/* When the blocks that live yet were born: of stats->heap, those that leak. After the steps' result. */
void tpa_growth_births(const struct tpa_growth_inputs *in, const struct tpa_step_stats *steps,
		       struct tpa_growth_stats *stats);

/* ---- several sites as one ---- */

/*
 * Sums up sites that leak, or may leak, of one process: rate, interval and onset are measured anew on the sum of what they held at
 * each look. It is shown by the one that grew most.
 */
struct tpa_growth_site tpa_growth_sum(const struct tpa_growth_stats *stats, const struct tpa_growth_site *const *sites,
				      size_t count);

/* Do the two sites get their blocks at the same looks, in the same proportion? */
bool tpa_growth_in_step(const struct tpa_growth_stats *stats, const struct tpa_growth_site *a,
			const struct tpa_growth_site *b);

/* Do the site's blocks come at an even rate? Then it is in step with every other site of an even rate. */
bool tpa_growth_is_even(const struct tpa_growth_stats *stats, const struct tpa_growth_site *site);

/* ---- put together ---- */

/* The sites that were kept; groups are given in this order. */
const struct tpa_growth_member *tpa_growth_members(const struct tpa_growth_kept *kept, size_t *count);

/* Which groups each member is in: of member i, list[first[i]] to list[first[i + 1] - 1], each once. */
struct tpa_growth_groups {
	const size_t *first;  /* of each member, and one more */
	const uint32_t *list; /* below count */
	size_t count;
};

/*
 * Some of them together, as one series: `chosen`, of each. False: they did not change. Its verdict may be any.
 */
bool tpa_growth_pool_some(const struct tpa_growth_kept *kept, const bool *chosen, struct tpa_growth_site *site);

/*
 * The same over sums of sites: a leak that is spread over many stacks, too thin in each to be told from chance, is found in
 * their sum. Groups may overlap (a stack belongs to each of its functions), and a leak makes all groups grow that it is in. It
 * is listed once: with the group that grows most steadily for its number of stacks. The others stay if what they have beside
 * it grows as well, with the rate of that. So the result has leaks only. A site of it has as number its group, and as node
 * and op those of the member that grew most. `varying`: of the groups, how many changed, which is what Holm's correction
 * counts. The caller frees result->list.
 */
void tpa_growth_pool(const struct tpa_growth_kept *kept, const struct tpa_growth_groups *groups,
		     struct tpa_growth_list *result, size_t *varying);

#endif
