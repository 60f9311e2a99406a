/* SPDX-License-Identifier: Apache-2.0 */
/* A process's blocks and mappings, as the reports show them. */
#ifndef TPROF_MODEL_HEAP_HEAP_H
#define TPROF_MODEL_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/steps/step_stats.h"

/*
 * Variances of a process's counts and bytes, which are estimates if allocations were sampled. If not, the numbers are
 * exact and all variances are 0. The variance of a sum of independent estimates is the sum of their variances.
 */
struct tpa_variance {
	double allocations, frees, bytes, usable, short_lived;
	double peak_bytes, peak_blocks, peak_usable;
	double live_bytes, live_blocks, live_usable; /* at the end */
};

/*
 * Memory of one stack and, depending on the group, one thread, size, step or layer. Bytes are requested bytes unless
 * the name says otherwise.
 */
struct tpa_site {
	uint32_t node; /* stack node, an index for tpa_trace_stack(); TPROF_NODE_NONE: the stack was not recorded */
	uint64_t
		key; /* thread number, size or step, depending on the group; by layer: the op's node; labels: both; else 0 */
	/* By stack: the innermost open op. By layer: the innermost layer. 0: none. See tpa_process_op_name(). */
	uint32_t op;
	uint64_t allocations, frees;
	uint64_t bytes;			  /* allocated in total */
	uint64_t peak_bytes, peak_blocks; /* live at the process's peak */
	uint64_t live_bytes, live_blocks; /* live at the end: unfreed */
	uint64_t peak_usable, live_usable;
	struct tpa_born peak_born, live_born;
	uint64_t temporary;	 /* freed by the allocating thread's very next event */
	uint64_t short_lived;	 /* freed within TPA_SHORT_LIVED_NS of the allocation, by any thread */
	uint64_t largest;	 /* largest single request; in a sampled run, the largest recorded one */
	uint64_t before_largest; /* largest request before the selected time range: the peak may include it */
	const struct tpa_variance *variance; /* one of the process's site_variances; NULL: all are 0 */
};
#define TPA_SHORT_LIVED_NS 1000000u

/* The key by TPA_GROUP_LABELS: a thread, and the op of the innermost layer that was open (0: none). */
static inline uint64_t tpa_label_key(uint32_t thread, uint32_t layer)
{
	return (uint64_t)layer << 32 | thread;
}

static inline uint32_t tpa_label_thread(uint64_t key)
{
	return (uint32_t)key;
}

static inline uint32_t tpa_label_layer(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

static inline struct tpa_variance tpa_site_variance(const struct tpa_site *site)
{
	return site->variance ? *site->variance : (struct tpa_variance){ 0 };
}

/* Address space taken by mmap, by stack. Not part of the heap's numbers. */
struct tpa_map_site {
	uint32_t node;
	uint64_t calls, bytes;		 /* mapped in total */
	uint64_t live_bytes, peak_bytes; /* at the end; when all mappings together were largest */
	bool file;			 /* file mappings; else anonymous ones */
};

struct tpa_heap {
	uint64_t allocations, frees, bytes, usable; /* a realloc is one allocation and one free */
	uint64_t peak_bytes, peak_blocks, peak_usable, peak_time_ns;
	uint64_t end_bytes, end_blocks, end_usable;
	uint64_t temporary, short_lived;
	uint64_t inherited_frees; /* in a forked process: frees of blocks that its parent allocated */
	/* Frees of blocks whose allocation is not in the trace. `frees` counts neither these nor the inherited ones. */
	uint64_t unmatched_frees;
	uint64_t implied_frees; /* counted in `frees`: blocks whose address was allocated again without a free */
	uint64_t reordered;	/* events whose order between threads had to be repaired */
	uint64_t failed_reallocs;
	/*
	 * The mmap family. `maps` and `unmaps` count events (an mremap is one of each). `mapped_end` is all that is
	 * mapped at the end, whenever it was mapped.
	 */
	uint64_t mapped_peak, mapped_end, maps, unmaps;
	uint64_t rss_peak; /* the larger of the header's peak and the largest sample */
	uint64_t events;   /* decoded events of all kinds */
	/* The recorded events that the counts above count, or are estimated from. */
	uint64_t recorded_allocations, recorded_frees;
	struct tpa_variance variance;
};

/*
 * Pools: memory that the program's own allocators hand out in blocks. The heap's numbers include these blocks, but not
 * the heap blocks that back the pools.
 */
struct tpa_pool_counts {
	uint64_t pools, bytes;	       /* heap blocks that backed pools, in total */
	uint64_t peak_bytes;	       /* the most at any time */
	uint64_t end_pools, end_bytes; /* at the end */
	uint64_t allocations, frees;   /* of the pools' blocks, as recorded */
};

/*
 * What one more recorded block would stand for in a sampled run. `bytes`: the sample's mean, whatever the block's size.
 * `blocks`: what the process's recorded blocks stand for on average. If these are so large that they say nothing about
 * small blocks, what the smallest possible block would stand for. 0: allocations were not sampled.
 */
struct tpa_unseen {
	double bytes, blocks;
};

#endif
