/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a process's growth. */
#ifndef TPROF_MODEL_GROWTH_GROWTH_STATS_H
#define TPROF_MODEL_GROWTH_GROWTH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/trend.h"

/* What a site does as the steps go on. Rates are per step, or per second where there are no steps. */
struct tpa_growth_site {
	uint32_t node, op;
	enum tpa_verdict verdict;
	double p;		/* of its growth, before the correction for many */
	double rate, low, high; /* bytes, with its 95% interval; of those that leak or grew significantly, else 0 */
	double block_rate;	/* blocks */
	uint64_t since;		/* the step in which the growth began, or nanoseconds since the run's start */
	uint64_t bytes, blocks; /* at the last look */
	uint64_t left;		/* bytes at the end of the run; of what was put together unknown, 0 */
	int64_t grown;		/* bytes since then */
	uint64_t most;		/* bytes at any look */
	uint64_t typical;	/* median size of the blocks that live at the end; 0: none does */
	uint64_t born[3];	/* steps, or nanoseconds, in which they were born: first, median, last */
	uint32_t number;	/* of the series that it was judged by; of what was put together, of the group */
	uint32_t members;	/* stacks that it is of: those that are alike, or that were put together */
	bool renewed;	/* they are alike but for names that are new again and again: model/growth/same_stacks.h */
	bool file;	/* of a mapping: of a file */
	double factor;	/* a table that was full is enlarged by that factor: its rate is that of what it gets; else 0 */
	uint64_t next;	/* where that is due: step, or nanoseconds since the run's start */
	double recent;	/* rate of the last quarter, of growth that accelerates; else 0 */
	uint32_t curve; /* of what leaks or may leak: its place in tpa_growth_stats.curves, and 1; else 0 */
};

/* What a site that leaks, or may leak, held at each look. */
struct tpa_growth_curve {
	double bytes[TPA_TREND_MAX], blocks[TPA_TREND_MAX];
};

/* All that are not stable: leaks by rate, those that may be such by rate, then the others by size. */
struct tpa_growth_list {
	struct tpa_growth_site *list;
	size_t count, leaks, rising; /* those that leak stand first, then those that may */
	size_t replaced;	     /* that grow with the work */
	double leak_rate;	     /* of all leaks together */
};

/* A site of a process, as growth that is put together has it. */
struct tpa_growth_member {
	uint32_t node, op;
};

/* A part of the process's memory. */
struct tpa_growth_line {
	int64_t first, last; /* bytes at the first look after the warm-up and at the last; below 0 are parts of RSS that
			      * others take more from than they hold: live blocks that were not touched */
	double rate, low, high;
	double recent;		  /* rate of the last quarter, of growth that accelerates; else 0 */
	enum tpa_verdict verdict; /* a leak's interval is above 0 */
};

/* What RSS is made of. The lines add up to RSS: what no other part holds is the allocator's. */
enum tpa_growth_part {
	TPA_PART_LIVE,	    /* live blocks, bytes requested */
	TPA_PART_ALLOCATOR, /* what it holds beyond these: free memory, rounding, headers, its tables; modules' data */
	TPA_PART_MAPPED,    /* private anonymous memory that the program mapped itself */
	TPA_PART_FILES,	    /* of files (programs and libraries too), and shared memory */
	TPA_PART_STACKS,
	TPA_PART_COLLECTOR, /* tprof's own tables */
	TPA_PARTS,
};

/*
 * The same with what only the readings of smaps tell, between which it is taken to change steadily: these add up to RSS, too.
 */
enum tpa_growth_fine {
	TPA_FINE_LIVE,
	TPA_FINE_ALLOCATOR, /* without the two below */
	TPA_FINE_MAPPED,
	TPA_FINE_UNSEEN, /* mapped by the program past the hooks */
	TPA_FINE_STATIC, /* modules' data */
	TPA_FINE_FILES,	 /* without shared memory */
	TPA_FINE_SHARED, /* shared memory */
	TPA_FINE_STACKS,
	TPA_FINE_COLLECTOR,
	TPA_FINE_PARTS,
};

/* Of what jemalloc holds, as it says itself: the lines from LIVE to METADATA add up to RESIDENT. */
enum tpa_allocator_line {
	TPA_ALLOCATOR_LIVE,	 /* live blocks, bytes requested */
	TPA_ALLOCATOR_ROUNDING,	 /* up to its classes of sizes; and what threads' caches hold */
	TPA_ALLOCATOR_FRAGMENTS, /* in pages of which blocks take a part: active less allocated */
	TPA_ALLOCATOR_FREE,	 /* pages without blocks that it keeps */
	TPA_ALLOCATOR_METADATA,
	TPA_ALLOCATOR_RESIDENT,
	TPA_ALLOCATOR_RETAINED, /* address space without memory, for later */
	TPA_ALLOCATOR_LINES,
};

struct tpa_growth_stats {
	bool seconds;		     /* rates are per second */
	size_t looks;		     /* 0: there is nothing to say; less than TPA_TREND_LEAST: too few for verdicts */
	uint64_t last;		     /* the last step that was looked at, or nanoseconds */
	double span;		     /* steps (seconds) from one look to the next, about */
	size_t sites;		     /* that there were; those that are alike are one */
	size_t varying;		     /* of them, that changed after the warm-up: what the correction for many counts */
	uint32_t *series;	     /* by site of the replay: number of its series, and 1; 0: it has none */
	struct tpa_growth_list heap; /* blocks, by stack and op */
	/*
	 * What runs are compared by: the rate of each stack that leaks or may, whatever another run's verdict is. Of a run that
	 * was sampled those of all stacks that changed, since few hits are too few for a verdict.
	 */
	struct tpa_growth_site *rates;
	size_t rate_count;
	double x[TPA_TREND_MAX]; /* where the looks were: steps, or seconds */
	struct tpa_growth_curve *curves;
	size_t curve_count;
	struct tpa_growth_line others;	/* of all stacks of the heap together that neither leak nor may */
	struct tpa_growth_list maps;	/* of mappings, by stack: of bytes mapped, whether or not they are touched */
	struct tpa_growth_kept *kept;	/* of the heap, for tpa_growth_pool(); NULL: not asked for, or too few looks */
	struct tpa_growth_kept *mapped; /* of mappings of no file, for tpa_growth_pool_some(); NULL: too few looks */
	struct tpa_growth_line live, anonymous, file, rss,
		rest; /* rest: RSS without live blocks and anonymous mappings */
	struct tpa_growth_line parts[TPA_PARTS];
	bool parts_known; /* they were counted from the end of the warm-up on */
	struct tpa_growth_line fine[TPA_FINE_PARTS];
	bool fine_known; /* and smaps were read */
	struct tpa_growth_line allocator[TPA_ALLOCATOR_LINES];
	bool allocator_known; /* it said something from there on */
};

#endif
