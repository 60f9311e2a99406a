/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a process's growth. */
#ifndef TPROF_MODEL_GROWTH_GROWTH_STATS_H
#define TPROF_MODEL_GROWTH_GROWTH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/trend.h"

/* What a site does as the steps go on. Rates are per step, or per second where there are no steps. */
struct tp_growth_site {
	uint32_t node, op;
	enum tp_verdict verdict;
	double p;		/* of its growth, before the correction for many */
	double rate, low, high; /* bytes, with its 95% interval; of those that leak or grew significantly, else 0 */
	double block_rate;	/* blocks */
	uint64_t since;		/* the step in which the growth began, or nanoseconds since the run's start */
	uint64_t bytes, blocks; /* at the last look */
	int64_t grown;		/* bytes since then */
	uint64_t most;		/* bytes at any look */
	uint64_t typical;	/* median size of the blocks that live at the end; 0: none does */
	uint64_t born[3];	/* steps, or nanoseconds, in which they were born: first, median, last */
	uint32_t number;	/* of the series that it was judged by; of what was put together, of the group */
	uint32_t members;	/* stacks that it is of: those that are alike, or that were put together */
	bool renewed; /* they are alike but for names that are new again and again: model/growth/same_stacks.h */
	bool file;    /* of a mapping: of a file */
};

/* All that are not stable: leaks by rate, those that may be such by rate, then the others by size. */
struct tp_growth_list {
	struct tp_growth_site *list;
	size_t count, leaks, rising; /* those that leak stand first, then those that may */
	double leak_rate;	     /* of all leaks together */
};

/* A site of a process, as growth that is put together has it. */
struct tp_growth_member {
	uint32_t node, op;
};

/* A part of the process's memory. */
struct tp_growth_line {
	int64_t first, last; /* bytes at the first look after the warm-up and at the last; below 0 are parts of RSS that
			      * others take more from than they hold: live blocks that were not touched */
	double rate, low, high;
	enum tp_verdict verdict;
};

/* What RSS is made of. The lines add up to RSS: what no other part holds is the allocator's. */
enum tp_growth_part {
	TP_PART_LIVE,	   /* live blocks, bytes requested */
	TP_PART_ALLOCATOR, /* what it holds beyond these: free memory, rounding, headers, its tables; modules' data */
	TP_PART_MAPPED,	   /* private anonymous memory that the program mapped itself */
	TP_PART_FILES,	   /* of files (programs and libraries too), and shared memory */
	TP_PART_STACKS,
	TP_PART_COLLECTOR, /* tprof's own tables */
	TP_PARTS,
};

/*
 * The same with what only the readings of smaps tell, between which it is taken to change steadily: these add up to RSS, too.
 */
enum tp_growth_fine {
	TP_FINE_LIVE,
	TP_FINE_ALLOCATOR, /* without the two below */
	TP_FINE_MAPPED,
	TP_FINE_UNSEEN, /* mapped by the program past the hooks */
	TP_FINE_STATIC, /* modules' data */
	TP_FINE_FILES,	/* without shared memory */
	TP_FINE_SHARED, /* shared memory */
	TP_FINE_STACKS,
	TP_FINE_COLLECTOR,
	TP_FINE_PARTS,
};

/* Of what jemalloc holds, as it says itself: the lines from LIVE to METADATA add up to RESIDENT. */
enum tp_allocator_line {
	TP_ALLOCATOR_LIVE,	/* live blocks, bytes requested */
	TP_ALLOCATOR_ROUNDING,	/* up to its classes of sizes; and what threads' caches hold */
	TP_ALLOCATOR_FRAGMENTS, /* in pages of which blocks take a part: active less allocated */
	TP_ALLOCATOR_FREE,	/* pages without blocks that it keeps */
	TP_ALLOCATOR_METADATA,
	TP_ALLOCATOR_RESIDENT,
	TP_ALLOCATOR_RETAINED, /* address space without memory, for later */
	TP_ALLOCATOR_LINES,
};

struct tp_growth_stats {
	bool seconds;		    /* rates are per second */
	size_t looks;		    /* 0: there is nothing to say; less than TP_TREND_LEAST: too few for verdicts */
	uint64_t last;		    /* the last step that was looked at, or nanoseconds */
	double span;		    /* steps (seconds) from one look to the next, about */
	size_t sites;		    /* that there were; those that are alike are one */
	size_t varying;		    /* of them, that changed after the warm-up: what the correction for many counts */
	uint32_t *series;	    /* by site of the replay: number of its series, and 1; 0: it has none */
	struct tp_growth_list heap; /* blocks, by stack and op */
	/*
	 * What runs are compared by: the rate of each stack that leaks or may, whatever another run's verdict is. Of a run that
	 * was sampled those of all stacks that changed, since few hits are too few for a verdict.
	 */
	struct tp_growth_site *rates;
	size_t rate_count;
	struct tp_growth_line others; /* of all stacks of the heap together that neither leak nor may */
	struct tp_growth_list maps;   /* of mappings, by stack: of bytes mapped, whether or not they are touched */
	struct tp_growth_kept *kept;  /* of the heap, for tp_growth_pool(); NULL: not asked for, or too few looks */
	struct tp_growth_line live, anonymous, file, rss,
		rest; /* rest: RSS without live blocks and anonymous mappings */
	struct tp_growth_line parts[TP_PARTS];
	bool parts_known; /* they were counted from the end of the warm-up on */
	struct tp_growth_line fine[TP_FINE_PARTS];
	bool fine_known; /* and smaps were read */
	struct tp_growth_line allocator[TP_ALLOCATOR_LINES];
	bool allocator_known; /* it said something from there on */
};

#endif
