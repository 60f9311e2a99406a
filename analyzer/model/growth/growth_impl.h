/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of growth share: growth.c looks while the replay runs; growth_series.c makes one series of stacks that are
 * alike; growth_judge.c says which series grow; growth_result.c fills in the process's numbers; growth_births.c adds the ages of
 * the blocks; growth_sum.c makes one of several that leak together; growth_pool.c judges again what a report has put together.
 */
#ifndef TPROF_MODEL_GROWTH_GROWTH_IMPL_H
#define TPROF_MODEL_GROWTH_GROWTH_IMPL_H

#include "model/growth/growth.h"
#include "model/stats/doubling.h"

/* Event time to nanoseconds since the run's start. */
static inline uint64_t tpa_growth_ns(const struct tpa_growth_inputs *in, uint64_t time)
{
	return in->start_ns + tpa_trace_ns(in->trace, time << in->trace->header->tick_shift);
}

struct tpa_growth_series {
	uint64_t bytes[TPA_TREND_MAX];
	uint32_t blocks[TPA_TREND_MAX];
	uint32_t survivors[TPA_TREND_MAX]; /* of these, that live when the last step ends */
};

/* Nothing before look `since`, and from then on what it is now; with a series: that has the looks before `since`. */
struct tpa_growth_state {
	uint64_t bytes, blocks;
	uint32_t since;
	struct tpa_growth_series *series;
};

/* Where the looks were: steps, or time. */
struct tpa_growth_places {
	size_t count;
	bool seconds;
	bool survivors;		       /* they are known */
	double x[TPA_TREND_MAX];       /* steps, or seconds */
	uint64_t place[TPA_TREND_MAX]; /* steps, or nanoseconds */
};

/* One series of many that are judged together. */
struct tpa_growth_found {
	struct tpa_growth_site site;
	struct tpa_trend trend;
	struct tpa_doubling doubling;
	bool table;   /* it was judged as one */
	size_t index; /* for the family's read() */
};

/* What one has at each place. */
struct tpa_growth_values {
	double bytes[TPA_TREND_MAX], blocks[TPA_TREND_MAX];
	double survivors[TPA_TREND_MAX]; /* of the blocks */
};

/* Fills places->count of each. */
typedef void tpa_growth_read(const void *source, size_t index, struct tpa_growth_values *values);

struct tpa_growth_family {
	const struct tpa_growth_places *places;
	const void *source;
	tpa_growth_read *read;
};

/* What outlives the replay, to be put together by what a report knows. */
struct tpa_growth_kept {
	struct tpa_growth_places places;
	struct tpa_growth_member *members;
	struct tpa_growth_state *states; /* of the members, in the same order */
	size_t count;
};

/* Before the series are read. */
void tpa_growth_finish(struct tpa_growth *growth);

/* Numbers that a damaged trace made large end at the ends of the type. */
int64_t tpa_growth_round(double value);

/* The values of one site, as many as there are places; and added to what is there. */
void tpa_growth_read_state(const struct tpa_growth_state *state, size_t count, struct tpa_growth_values *values);
void tpa_growth_add_state(const struct tpa_growth_state *state, size_t count, struct tpa_growth_values *sum);

/* Adds to *bytes and *blocks what it had at the last of `count` looks. */
void tpa_growth_add_last(const struct tpa_growth_state *state, size_t count, uint64_t *bytes, uint64_t *blocks);

/* Bytes by which it grew from the end of the warm-up on. */
double tpa_growth_grown(const struct tpa_growth_state *state, size_t count);

/* Constant from the first look on: worth no test, and not counted among those that are looked at. */
static inline bool tpa_growth_is_plain(const struct tpa_growth_state *state)
{
	return !state->series && state->since == 0;
}

/* By index: the sites, and behind them the mappings. */
static inline const struct tpa_growth_state *tpa_growth_state_at(const struct tpa_growth *growth, size_t index)
{
	size_t sites = growth->sites.count;

	return index < sites ? &growth->sites.list[index] : &growth->maps.list[index - sites];
}

/* The series that are judged: sites and mappings that are not plain, those of stacks that are alike as one. */
struct tpa_growth_series_list {
	size_t *order; /* indexes, series by series */
	size_t *first; /* of each series, and one more: its place in `order` */
	bool *renewed; /* by series: its stacks are alike but for names that are new again and again */
	size_t count;
	size_t repeated; /* sites that are alike to one before them; of plain ones, only where there are others */
};

struct tpa_growth_series_list tpa_growth_series(const struct tpa_growth *growth, const struct tpa_growth_inputs *in,
						size_t looks);
void tpa_growth_series_free(struct tpa_growth_series_list *list);

/* The test of one series: trend, and of the site p, what it was at last and at most. */
void tpa_growth_test(const struct tpa_growth_family *family, struct tpa_growth_found *found);

/*
 * The verdicts over a whole family: sorts the list, and fills verdict, rate and what belongs to it. `varying`: how many series
 * changed, those that are not in the list with them.
 */
void tpa_growth_judge(const struct tpa_growth_family *family, struct tpa_growth_found *list, size_t count,
		      size_t varying);

/* Keeps what the site held at each look, if it leaks or may leak. stats->curves has room. */
void tpa_growth_keep_curve(struct tpa_growth_stats *stats, const struct tpa_growth_values *values, size_t looks,
			   struct tpa_growth_site *site);

/* Appends a site to a result's list, and counts it; stable ones are left out. The list has room. */
void tpa_growth_take(struct tpa_growth_list *to, const struct tpa_growth_site *site);

/* Leaks by rate, those that may be such by rate, then the others by size. */
void tpa_growth_sort(struct tpa_growth_list *list);

#endif
