/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grows with the steps: live bytes and blocks of each site, looked at in some of the steps' ends; model/trend.h says
 * what that means. At most TP_TREND_MAX steps are kept, of a long run every second, fourth, ... one, and of each such
 * interval a step at random, so that what comes and goes at a rate of its own does not look like growth (stochastic sampling,
 * Cook 1986). Looking costs a pass over the sites, some 64 times for each doubling of the steps; between, events pay nothing.
 * Memory grows with the sites, and only sites that change between looks get a series.
 *
 * Of a run without steps, slices of time take their place.
 */
#ifndef TPROF_MODEL_GROWTH_H
#define TPROF_MODEL_GROWTH_H

#include "model/run.h"
#include "model/trend.h"

struct tp_replay;

/* Of the whole process at one look, bytes. */
struct tp_growth_whole {
	uint64_t live, anonymous, file, rss;
};

struct tp_growth_state; /* a site's */

struct tp_growth {
	uint64_t at[TP_TREND_MAX]; /* number of the step, or event time */
	struct tp_growth_whole whole[TP_TREND_MAX];
	size_t count;
	uint64_t stride, due; /* due: when to look next; UINT64_MAX: never */
	struct tp_growth_state *sites;
	size_t site_count, site_room;
};

/* Looks will be at stride, 2 * stride, ... or more seldom. */
void tp_growth_init(struct tp_growth *growth, uint64_t stride);
void tp_growth_free(struct tp_growth *growth);

/* Looks, at a time that is due. False: no memory. */
bool tp_growth_look(struct tp_growth *growth, const struct tp_replay *replay, uint64_t now);

/* Nothing more, and what was seen is forgotten. */
void tp_growth_drop(struct tp_growth *growth);

/* Fills *stats from what was seen. `seconds`: `at` holds event times. False: no memory. */
bool tp_growth_result(const struct tp_growth *growth, const struct tp_replay *replay, bool seconds,
		      struct tp_growth_stats *stats);

/* When the blocks that live yet were born: of stats->list, those that leak. After the steps' result. False: no memory. */
bool tp_growth_births(const struct tp_replay *replay, const struct tp_step_stats *steps, struct tp_growth_stats *stats);

#endif
