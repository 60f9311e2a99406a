/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of growth. growth.c takes the looks during the replay. growth_series.c joins stacks that are
 * alike into one series. growth_judge.c decides which series grow. growth_result.c fills in the process's numbers.
 * growth_births.c adds the ages of blocks. growth_sum.c sums up sites that leak together. growth_pool.c judges the
 * groups that a report has formed.
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
	uint32_t survivors[TPA_TREND_MAX]; /* those of `blocks` that are still live when the last step ends */
};

/*
 * `bytes` and `blocks` are what the site has from look `since` on. Before that look it had what `series` says; without
 * a series, nothing.
 */
struct tpa_growth_state {
	uint64_t bytes, blocks;
	uint32_t since;
	struct tpa_growth_series *series;
};

/* The places of the looks: steps, or times. */
struct tpa_growth_places {
	size_t count;
	bool seconds;
	bool survivors;		       /* the numbers of survivors are known */
	double x[TPA_TREND_MAX];       /* steps, or seconds */
	uint64_t place[TPA_TREND_MAX]; /* steps, or nanoseconds */
};

/* One series of many that are judged together. */
struct tpa_growth_found {
	struct tpa_growth_site site;
	struct tpa_trend trend;
	struct tpa_doubling doubling;
	bool table;   /* it is judged as a table: model/stats/doubling.h */
	size_t index; /* the family's read() takes this */
};

/* What one series has at each place. */
struct tpa_growth_values {
	double bytes[TPA_TREND_MAX], blocks[TPA_TREND_MAX];
	double survivors[TPA_TREND_MAX]; /* how many of `blocks` survive */
};

/* Reads series `index`: fills places->count elements of each array. */
typedef void tpa_growth_read(const void *source, size_t index, struct tpa_growth_values *values);

struct tpa_growth_family {
	const struct tpa_growth_places *places;
	const void *source;
	tpa_growth_read *read;
};

/* Series that outlive the replay, for reports to form groups of. */
struct tpa_growth_kept {
	struct tpa_growth_places places;
	struct tpa_growth_member *members;
	struct tpa_growth_state *states; /* in the same order as `members` */
	size_t count;
};

/* Completes all series up to the last look. Call it before the series are read. */
void tpa_growth_finish(struct tpa_growth *growth);

/* Rounds. Values out of range, which a damaged trace may have, become the closest value in range. */
int64_t tpa_growth_round(double value);

/* Reads the values of one site at `count` places, or adds them to what is there. */
void tpa_growth_read_state(const struct tpa_growth_state *state, size_t count, struct tpa_growth_values *values);
void tpa_growth_add_state(const struct tpa_growth_state *state, size_t count, struct tpa_growth_values *sum);

/* Adds to *bytes and *blocks what the site had at the last of `count` looks. */
void tpa_growth_add_last(const struct tpa_growth_state *state, size_t count, uint64_t *bytes, uint64_t *blocks);

/* Bytes that the site gained from the end of the warm-up to the last look. */
double tpa_growth_grown(const struct tpa_growth_state *state, size_t count);

/*
 * Whether the site is plain: constant from the first look on. It is not tested, and not counted among the series that
 * are tested.
 */
static inline bool tpa_growth_is_plain(const struct tpa_growth_state *state)
{
	return !state->series && state->since == 0;
}

/* The state at an index. The mappings' indexes follow those of the sites. */
static inline const struct tpa_growth_state *tpa_growth_state_at(const struct tpa_growth *growth, size_t index)
{
	size_t sites = growth->sites.count;

	return index < sites ? &growth->sites.list[index] : &growth->maps.list[index - sites];
}

/* The series that are judged: sites and mappings that are not plain. Stacks that are alike share a series. */
struct tpa_growth_series_list {
	size_t *order; /* indexes for tpa_growth_state_at(), series by series */
	/* Place in `order` of the first index of each series, and one more element for the end. */
	size_t *first;
	bool *renewed; /* by series: its stacks differ only in names that are new again and again */
	size_t count;
	/*
	 * Sites whose stack is alike to that of an earlier site. Plain ones count only if sites that are not plain are
	 * alike.
	 */
	size_t repeated;
};

struct tpa_growth_series_list tpa_growth_series(const struct tpa_growth *growth, const struct tpa_growth_inputs *in,
						size_t looks);
void tpa_growth_series_free(struct tpa_growth_series_list *list);

/* Tests one series. Sets its trend, whether it is a table, and the site's `p` and `most`. */
void tpa_growth_test(const struct tpa_growth_family *family, struct tpa_growth_found *found);

/*
 * Finds the verdicts of a whole family. Sorts the list by p, and fills in verdict, rate and the other measures of
 * growth. `varying`: how many series changed, including those that are not in the list.
 */
void tpa_growth_judge(const struct tpa_growth_family *family, struct tpa_growth_found *list, size_t count,
		      size_t varying);

/* Keeps what a site that leaks, or may leak, held at each look. stats->curves must have room for it. */
void tpa_growth_keep_curve(struct tpa_growth_stats *stats, const struct tpa_growth_values *values, size_t looks,
			   struct tpa_growth_site *site);

/* Appends a site to a result's list and counts it, unless it is stable. The list must have room for it. */
void tpa_growth_take(struct tpa_growth_list *to, const struct tpa_growth_site *site);

/* Sorts: leaks by rate, then sites that may leak by rate, then the others by size. */
void tpa_growth_sort(struct tpa_growth_list *list);

#endif
