/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a process's blocks and mappings. */
#ifndef TPROF_MODEL_HEAP_HEAP_H
#define TPROF_MODEL_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/steps/step_stats.h"

/*
 * Of a process whose allocations were sampled, the counts and bytes of its blocks are estimates, and this is their
 * variances; of others all is 0, and the numbers are exact. Sums of independent estimates have the sum of the variances.
 */
struct tpa_variance {
	double allocations, frees, bytes, usable, short_lived;
	double peak_bytes, peak_blocks, peak_usable;
	double live_bytes, live_blocks, live_usable; /* at the end */
};

/* Memory of one stack (and, by group, one thread or one size). Bytes are requested bytes unless the name says else. */
struct tpa_site {
	uint32_t node; /* stack node, an index for tpa_trace_stack(); TPROF_NODE_NONE: stack not recorded */
	uint64_t key;  /* thread number, size or step, as the group says; by layer: the op's node; else 0 */
	uint32_t op;   /* by stack: the innermost op that was open; by layer: the innermost layer; 0: none. See
			* tpa_process_op_name() */
	uint64_t allocations, frees;
	uint64_t bytes;			  /* allocated, in all */
	uint64_t peak_bytes, peak_blocks; /* live at the process's peak */
	uint64_t live_bytes, live_blocks; /* live at the end: unfreed */
	uint64_t peak_usable, live_usable;
	struct tpa_born peak_born, live_born;
	uint64_t temporary;	 /* freed as the very next event of the allocating thread */
	uint64_t short_lived;	 /* freed within TPA_SHORT_LIVED_NS of the allocation, by whichever thread */
	uint64_t largest;	 /* largest single request (of a sampled run: recorded one) */
	uint64_t before_largest; /* of those before the time that is looked at, which the peak may have */
	struct tpa_variance variance;
};
#define TPA_SHORT_LIVED_NS 1000000u

/* Address space taken by mmap, by stack. Not part of the heap's numbers. */
struct tpa_map_site {
	uint32_t node;
	uint64_t calls, bytes;		 /* mapped in all */
	uint64_t live_bytes, peak_bytes; /* at the end; at the moment when all mappings together were largest */
	bool file;			 /* file mappings, apart from anonymous ones */
};

struct tpa_heap {
	uint64_t allocations, frees, bytes, usable; /* a realloc is one allocation and one free */
	uint64_t peak_bytes, peak_blocks, peak_usable, peak_time_ns;
	uint64_t end_bytes, end_blocks, end_usable;
	uint64_t temporary, short_lived;
	uint64_t inherited_frees; /* of a forked process: frees of blocks that its parent allocated */
	uint64_t unmatched_frees; /* frees of blocks whose allocation is not in the trace; neither these nor the
				   * inherited ones are among `frees` */
	uint64_t implied_frees;	  /* among `frees`: blocks whose address was allocated again without a free */
	uint64_t reordered;	  /* events whose order between threads had to be repaired */
	uint64_t failed_reallocs;
	/*
	 * mmap family. maps and unmaps are events (an mremap is one of each); mapped_end is all that is mapped at the end,
	 * whenever it was mapped.
	 */
	uint64_t mapped_peak, mapped_end, maps, unmaps;
	uint64_t rss_peak;			       /* the larger of the header's and the largest sample */
	uint64_t events;			       /* decoded, of all kinds */
	uint64_t recorded_allocations, recorded_frees; /* that the counts above are, or are estimated from */
	struct tpa_variance variance;
};

/*
 * Memory that the program's own allocators hand out in blocks: the blocks are among the heap's numbers, the heap blocks
 * that the pools are made of are not.
 */
struct tpa_pool_counts {
	uint64_t pools, bytes;	       /* heap blocks that were pools, allocated in all */
	uint64_t peak_bytes;	       /* the most that they were at once */
	uint64_t end_pools, end_bytes; /* at the end */
	uint64_t allocations, frees;   /* of their blocks, as recorded */
};

/*
 * What one block more in a sample would stand for, as far as is known of what is not in it: of bytes, the sample's mean,
 * whatever the block's size; of blocks, what the process's blocks do on average or, where these are so large that they say
 * nothing of small ones, what the smallest would. 0: nothing was sampled.
 */
struct tpa_unseen {
	double bytes, blocks;
};

#endif
