/* SPDX-License-Identifier: Apache-2.0 */
/* A process's growth, as the reports show it. */
#ifndef TPROF_MODEL_GROWTH_GROWTH_STATS_H
#define TPROF_MODEL_GROWTH_GROWTH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/trend.h"

/* How a site grows with the steps. Rates are per step, or per second in a run without steps. */
struct tpa_growth_site {
	uint32_t node, op;
	enum tpa_verdict verdict;
	double p; /* p-value of its growth, before the correction for multiple tests */
	/* Bytes, with the 95% interval. 0 unless the site leaks, may leak or grew significantly. */
	double rate, low, high;
	double block_rate;	/* blocks */
	uint64_t since;		/* the step in which the growth began, or nanoseconds since the run's start */
	uint64_t bytes, blocks; /* at the last look */
	uint64_t left;		/* bytes at the end of the run; 0 for a group, where they are unknown */
	int64_t grown;		/* bytes gained since `since` */
	uint64_t most;		/* the most bytes at any look */
	uint64_t typical;	/* median size of the blocks that are live at the end; 0: none are */
	uint64_t born[3];	/* when these blocks were born: first, median and last step, or nanoseconds */
	uint32_t number;	/* number of the series that it was judged by; of a group, the number of the group */
	uint32_t members;	/* number of stacks: those that are alike, or those in the group */
	/* The stacks differ only in names that are new again and again: model/growth/same_stacks.h. */
	bool renewed;
	bool file; /* for a mapping: it is of a file */
	/* Factor by which a full table is enlarged; its `rate` is that of what is put into it. 0: it is no table. */
	double factor;
	uint64_t next;	/* when a table is enlarged next: step, or nanoseconds since the run's start */
	double recent;	/* if growth accelerates: rate of its last quarter; else 0 */
	uint32_t curve; /* if it leaks or may leak: index in tpa_growth_stats.curves + 1; else 0 */
};

/* What a site that leaks, or may leak, held at each look. */
struct tpa_growth_curve {
	double bytes[TPA_TREND_MAX], blocks[TPA_TREND_MAX];
};

/* All sites that are not stable: leaks by rate, then those that may leak by rate, then the others by size. */
struct tpa_growth_list {
	struct tpa_growth_site *list;
	/* Numbers of all sites, of leaks, which come first, and of sites that may leak, which follow. */
	size_t count, leaks, rising;
	size_t replaced;  /* number of sites that grow with the work */
	double leak_rate; /* sum of the rates of all leaks */
};

/* A site of a process, as a member of groups. */
struct tpa_growth_member {
	uint32_t node, op;
};

/* A part of the process's memory. */
struct tpa_growth_line {
	/*
	 * Bytes at the first look after the warm-up, and at the last look. A part of RSS may be negative: live blocks
	 * that were never touched are not in RSS, but are subtracted from it.
	 */
	int64_t first, last;
	double rate, low, high;
	double recent;		  /* if growth accelerates: rate of its last quarter; else 0 */
	enum tpa_verdict verdict; /* of a leak, `low` is above 0 */
};

/* What RSS consists of. The parts add up to RSS: what no other part holds is charged to the allocator. */
enum tpa_growth_part {
	TPA_PART_LIVE,	    /* live blocks, bytes requested */
	TPA_PART_ALLOCATOR, /* beyond live blocks: free memory, rounding, headers, its tables; modules' data */
	TPA_PART_MAPPED,    /* private anonymous memory that the program mapped itself */
	TPA_PART_FILES,	    /* file mappings (including programs and libraries), and shared memory */
	TPA_PART_STACKS,
	TPA_PART_COLLECTOR, /* tprof's own tables */
	TPA_PARTS,
};

/*
 * The same in finer parts, some of which are known only from readings of smaps. Between two readings a part is taken to
 * change steadily. These parts add up to RSS, too.
 */
enum tpa_growth_fine {
	TPA_FINE_LIVE,
	TPA_FINE_ALLOCATOR, /* as TPA_PART_ALLOCATOR, without UNSEEN and STATIC */
	TPA_FINE_MAPPED,
	TPA_FINE_UNSEEN, /* mapped by the program in ways that the hooks do not see */
	TPA_FINE_STATIC, /* modules' data */
	TPA_FINE_FILES,	 /* file mappings, without shared memory */
	TPA_FINE_SHARED, /* shared memory */
	TPA_FINE_STACKS,
	TPA_FINE_COLLECTOR,
	TPA_FINE_PARTS,
};

/* What jemalloc holds, by its own statistics. The lines from LIVE to METADATA add up to RESIDENT. */
enum tpa_allocator_line {
	TPA_ALLOCATOR_LIVE,	 /* live blocks, bytes requested */
	TPA_ALLOCATOR_ROUNDING,	 /* rounding up to size classes, and what threads' caches hold */
	TPA_ALLOCATOR_FRAGMENTS, /* the free part of pages that hold blocks: active less allocated */
	TPA_ALLOCATOR_FREE,	 /* pages without blocks that it keeps */
	TPA_ALLOCATOR_METADATA,
	TPA_ALLOCATOR_RESIDENT,
	TPA_ALLOCATOR_RETAINED, /* address space without memory, kept for later */
	TPA_ALLOCATOR_LINES,
};

struct tpa_growth_stats {
	bool seconds;	/* rates are per second */
	size_t looks;	/* number of looks; 0: nothing is known; below TPA_TREND_LEAST: too few for verdicts */
	uint64_t last;	/* place of the last look: step, or nanoseconds since the run's start */
	uint64_t begin; /* the process's start in nanoseconds since the run's; 0 if places are steps */
	double span;	/* mean distance between looks in steps, or seconds */
	size_t sites;	/* number of sites; those that are alike count as one */
	/* How many of these changed after the warm-up: the number that the correction for multiple tests counts. */
	size_t varying;
	/* By site number of the replay: number of its series + 1; 0: it has none. */
	uint32_t *series;
	struct tpa_growth_list heap; /* heap blocks, by stack and op */
	/*
	 * For the comparison of runs: the rate of each stack that leaks or may leak, whatever the verdict in the other
	 * run. In a sampled run, the rates of all stacks that changed, because few samples are too few for a verdict.
	 */
	struct tpa_growth_site *rates;
	size_t rate_count;
	double x[TPA_TREND_MAX]; /* places of the looks: steps, or seconds */
	struct tpa_growth_curve *curves;
	size_t curve_count;
	/* The sum of all heap stacks that neither leak, nor may leak, nor grow with the work. */
	struct tpa_growth_line others;
	struct tpa_growth_list maps; /* mappings, by stack: bytes mapped, whether or not they are touched */
	/* The heap's series, for tpa_growth_pool(). NULL: not asked for, or too few looks. */
	struct tpa_growth_kept *kept;
	/* The series of anonymous mappings, for tpa_growth_pool_some(). NULL: too few looks. */
	struct tpa_growth_kept *mapped;
	struct tpa_growth_line live, anonymous, file, rss,
		rest; /* `rest`: RSS less live blocks and anonymous mappings */
	struct tpa_growth_line parts[TPA_PARTS];
	bool parts_known; /* `parts` is known: the parts were counted from the end of the warm-up on */
	struct tpa_growth_line fine[TPA_FINE_PARTS];
	bool fine_known; /* `fine` is known: `parts` is, and smaps was read */
	struct tpa_growth_line allocator[TPA_ALLOCATOR_LINES];
	bool allocator_known; /* `allocator` is known: its statistics were read from the end of the warm-up on */
};

#endif
