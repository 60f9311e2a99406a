/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of recording, in a trace with header.max_overhead: when all allocations were recorded or a sample of them, and when
 * calls of hooked functions were. The list of spans is bounded, so that a run of days keeps a short one; the time at each level is
 * exact. Times are event times, until tpa_levels_take() converts them.
 */
#ifndef TPROF_MODEL_SAMPLES_LEVELS_H
#define TPROF_MODEL_SAMPLES_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/events.h"

struct tpa_archive;

/* The most spans in the list. If there are more, those that are shortest together with a neighbour become one. */
#define TPA_LEVEL_SPANS 200u

struct tpa_level_span {
	uint64_t from, to;
	uint8_t mean;	   /* MEAN of trace/events.h: never TPA_MEAN_UNSAID */
	bool ops;	   /* calls of hooked functions were recorded */
	bool several;	   /* several levels held in it, so `mean` and `ops` are unknown */
	uint8_t unused[5]; /* zeros, as it is saved */
};

/* All the time at one level. */
struct tpa_level_time {
	uint64_t time;
	uint8_t mean;
	bool ops;
};

/* The result: lists that the owner frees; times in ns. Empty for a trace without header.max_overhead. */
struct tpa_level_stats {
	struct tpa_level_span *spans;
	size_t span_count;
	struct tpa_level_time *times; /* by mean; levels that never held are left out */
	size_t time_count;
	uint64_t time_ns, ops_ns; /* of all; of those in which calls of hooked functions were recorded */
};

struct tpa_levels {
	uint64_t begin; /* event time: what lies before it does not count */
	struct tpa_level_span now;
	struct tpa_level_span list[TPA_LEVEL_SPANS + 1]; /* the spans before `now` */
	size_t count;
	uint64_t time[TPA_MEAN_MOST + 1][2]; /* by mean and `ops` */
};

/* Everything is recorded from `start` on. What lies before `from` is not counted. */
void tpa_levels_init(struct tpa_levels *levels, uint64_t start, uint64_t from);

/* A level holds from that time on. False: it held already. */
bool tpa_levels_change(struct tpa_levels *levels, uint64_t time, uint8_t mean, bool ops);

/* How much of the time between the last change and `time` counts. */
uint64_t tpa_levels_lasted(const struct tpa_levels *levels, uint64_t time);

/* Ends the last level at that time, so call it once. */
void tpa_levels_end(struct tpa_levels *levels, uint64_t time);

/* Whether any blocks were left out. */
bool tpa_levels_sampled(const struct tpa_level_stats *stats);

void tpa_level_stats_free(struct tpa_level_stats *stats);

/* Saves, or loads into levels that were just initialized. */
void tpa_levels_archive(struct tpa_archive *archive, struct tpa_levels *levels);

#endif
