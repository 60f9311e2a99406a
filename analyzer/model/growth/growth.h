/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth over the steps. A look reads the live bytes and blocks of each site, and of each site of mappings, at the end
 * of a step; model/stats/trend.h judges the series that result. In a run without steps, or with too few, slices of time
 * take the place of steps.
 *
 * At most TPA_TREND_MAX looks are kept: of a long run, one for every second, fourth, ... step. The step within each
 * such interval is chosen at random, so that memory that comes and goes at a rate of its own does not look like growth
 * (stochastic sampling, Cook 1986).
 *
 * A look costs a pass over the sites that changed since the last look. There are some 64 looks for each doubling of the
 * number of steps. Between looks, an event costs one store. Memory grows with the number of sites, and only a site that
 * changes between looks gets a series.
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

/*
 * What growth reads from the other parts. It changes only sites->changed, in which each struct tpa_growth has a bit of
 * its own.
 */
struct tpa_growth_inputs {
	const struct tpa_trace *trace;
	const struct tpa_replay_options *options;
	uint64_t start_ns; /* nanoseconds from the run's start to the process's start */
	uint64_t last;	   /* event time of the last event */
	struct tpa_sites *sites;
	const struct tpa_estimates *estimates; /* NULL: allocations were not sampled */
	const struct tpa_maps *maps;
	const struct tpa_live *live;
	const struct tpa_outlived *outlived;
	const struct tpa_makeup *makeup;
	const struct tpa_point *now;
	const struct tpa_memory_parts *parts;
	const struct tpa_allocator *allocator;
	uint64_t allocator_live; /* live bytes when `allocator` was read */
};

/* The whole process at one look. */
struct tpa_growth_whole {
	uint64_t live, blocks, anonymous, file, rss; /* `blocks` is a number; the others are bytes */
	struct tpa_memory_parts parts;
	struct tpa_allocator allocator;
	uint64_t allocator_live; /* live bytes when `allocator` was read */
};

struct tpa_growth_state; /* of one site */

struct tpa_growth_states {
	struct tpa_growth_state *list;
	size_t count, room;
};

struct tpa_growth {
	uint64_t at[TPA_TREND_MAX];   /* step number, or event time in a run without steps */
	uint64_t time[TPA_TREND_MAX]; /* event time */
	struct tpa_growth_whole whole[TPA_TREND_MAX];
	size_t count;
	uint64_t stride, due; /* `due`: when the next look is due, in the unit of `at`; UINT64_MAX: never */
	uint8_t bit;	      /* its own bit of tpa_sites.changed */
	bool survivors;	      /* survivors were counted: tpa_growth_survivors() */
	struct tpa_growth_states sites, maps; /* indexed like the replay's sites, and like the sites of its mappings */
};

/*
 * Looks are taken at stride, 2 * stride, ... or more rarely. `bit`: growths that look at the same sites need different
 * bits.
 */
void tpa_growth_init(struct tpa_growth *growth, uint64_t stride, uint8_t bit);
void tpa_growth_free(struct tpa_growth *growth);

/* Takes a look. `now`: the step number or event time, which is due. */
void tpa_growth_look(struct tpa_growth *growth, const struct tpa_growth_inputs *in, uint64_t now);

/* Takes the looks that were due before `now`, while nothing happened. */
void tpa_growth_look_back(struct tpa_growth *growth, const struct tpa_growth_inputs *in, uint64_t now);

/* Stops looking, and forgets what was seen. */
void tpa_growth_drop(struct tpa_growth *growth);

/* Saves, or loads into growth that holds nothing. */
void tpa_growth_archive(struct tpa_archive *archive, struct tpa_growth *growth);

/*
 * Counts survivors: the blocks of each site and look that are still live when the last step ends. Call it before
 * tpa_growth_result(), which otherwise takes them to be unknown. They stay unknown for a sampled run, and if too many
 * blocks were freed after the last step.
 */
void tpa_growth_survivors(struct tpa_growth *growth, const struct tpa_growth_inputs *in);

/*
 * Fills *stats from what was seen; release it with tpa_growth_result_free(). `seconds`: looks were at times, not steps,
 * and `at` holds event times. With options->keep_growth, the sites' series move to stats->kept.
 */
void tpa_growth_result(struct tpa_growth *growth, const struct tpa_growth_inputs *in, bool seconds,
		       struct tpa_growth_stats *stats);
void tpa_growth_result_free(struct tpa_growth_stats *stats);

/*
 * Finds when the blocks that are still live were born, for the sites of stats->heap that leak or may leak. Needs the
 * result of the steps.
 */
void tpa_growth_births(const struct tpa_growth_inputs *in, const struct tpa_step_stats *steps,
		       struct tpa_growth_stats *stats);

/* ---- several sites as one ---- */

/*
 * Sums up sites of one process that leak, or may leak. Rate, interval and onset are measured anew on the sum of what
 * they held at each look. The sum has the stack and op of the site that grew most.
 */
struct tpa_growth_site tpa_growth_sum(const struct tpa_growth_stats *stats, const struct tpa_growth_site *const *sites,
				      size_t count);

/* Do the two sites gain their blocks at the same looks, in the same proportion? */
bool tpa_growth_in_step(const struct tpa_growth_stats *stats, const struct tpa_growth_site *a,
			const struct tpa_growth_site *b);

/* Does the site gain blocks at an even rate? Then it is in step with all other sites of an even rate. */
bool tpa_growth_is_even(const struct tpa_growth_stats *stats, const struct tpa_growth_site *site);

/* ---- put together ---- */

/* The sites that were kept. Groups and choices refer to them by their index in this list. `kept` may be NULL. */
const struct tpa_growth_member *tpa_growth_members(const struct tpa_growth_kept *kept, size_t *count);

/* The groups of each member: member i is in the groups list[first[i]] to list[first[i + 1] - 1], in each once. */
struct tpa_growth_groups {
	const size_t *first;  /* one element for each member, and one more */
	const uint32_t *list; /* group numbers, below `count` */
	size_t count;
};

/*
 * Judges some members together, as one series. `chosen`: one element for each member. False if their sum is constant.
 * The verdict may be any.
 */
bool tpa_growth_pool_some(const struct tpa_growth_kept *kept, const bool *chosen, struct tpa_growth_site *site);

/*
 * Judges sums of sites. A leak that is spread over many stacks, too thinly in each to be told from chance, is found in
 * their sum.
 *
 * Groups may overlap (a stack belongs to each of its functions), and a leak makes each group grow that it is part of.
 * It is listed once, with the group that grows most steadily for its number of stacks. Another group is listed only if
 * the rest of it grows as well, and then with the rate of that rest. So the result holds only leaks.
 *
 * In a result's site, `number` is the group, and `node` and `op` are those of the member that grew most. `varying`: how
 * many groups changed, which is the number that Holm's correction counts. The caller frees result->list.
 */
void tpa_growth_pool(const struct tpa_growth_kept *kept, const struct tpa_growth_groups *groups,
		     struct tpa_growth_list *result, size_t *varying);

#endif
