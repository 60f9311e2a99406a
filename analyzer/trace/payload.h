/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoded forms of event records that have a payload of their own: typed work, folded calls, counters and what the
 * kernel and the allocator count. struct tpa_event (trace/events.h) points to them.
 */
#ifndef TPROF_TRACE_PAYLOAD_H
#define TPROF_TRACE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

/* WORK: what a typed kernel works on. model/flop/work.h says what that means in FLOP and bytes. */
struct tpa_work {
	uint32_t kind;		/* enum tprof_work; may be one that is not known here */
	uint8_t dtype;		/* enum tprof_dtype; the same */
	uint8_t flags;		/* enum tprof_work_flags */
	uint8_t dims;		/* number of dimensions in the record; the others are 0 */
	uint8_t second, result; /* enum tprof_dtype: of those tensors, see tprof/work.h; 0: dtype */
	uint64_t dim[TPROF_WORK_DIMS];
};

/* FOLD: calls that were folded into one record. */
struct tpa_folded {
	struct tpa_work work; /* of the first call; kind 0: not typed. `sums` says whether the others differ */
	struct tprof_fold counts;
	uint32_t timed;	 /* calls that were timed: the times in `counts` are theirs */
	uint32_t lasted; /* ticks that the first `lasted_calls` took at most, together; 0: not known */
	uint32_t lasted_calls;
	bool sums; /* the calls' one dimension was not always the same: counts.units is its sum */
};

/* COUNTERS: by how much performance counters rose. */
struct tpa_counters {
	uint64_t value[TPROF_COUNTERS_MAX]; /* index: the counter's number - 1; 0: the record does not have it */
	uint64_t idle_ns;		    /* time in which the thread ran, but its hardware counters did not */
};

/* MEMORY: parts of RSS, in bytes. */
struct tpa_memory_parts {
	uint64_t shared;      /* files and shared memory */
	uint64_t own, stacks; /* the collector's, the threads' */
	uint64_t mapped;      /* mapped by the program */
	bool said;	      /* `shared` is known */
	bool counted;	      /* the other three are known */
};

/* USAGE: what the kernel counted for the process since it started. */
struct tpa_usage {
	uint64_t minor_faults, major_faults;
	uint64_t waits, preemptions; /* voluntary and involuntary context switches */
	uint64_t cpu_ns;	     /* of all threads */
	uint64_t own_cpu_ns;	     /* of the thread that wrote the record */
};

/* ALLOCATOR: bytes, in the terms of jemalloc(3). */
struct tpa_allocator {
	uint64_t allocated; /* in blocks, rounded up to size classes, including the blocks in thread caches */
	uint64_t active;    /* in pages that hold blocks */
	uint64_t metadata;
	uint64_t resident; /* active, metadata, and pages without blocks that were not returned to the kernel */
	uint64_t mapped, retained;
};

/* REGION: a part of the address space. */
struct tpa_region {
	uint32_t kind;	  /* enum tprof_region_kind */
	uint32_t file;	  /* number in tpa_trace.files; 0: none */
	uint32_t regions; /* END: how many regions the reading has */
	uint64_t low, high;
	uint64_t rss, pss, private, written, swap; /* bytes; written: pages that are not a file's */
};

/* COMM: what a call that communicates asks for. */
struct tpa_comm {
	uint8_t what;	       /* enum tprof_comm; may be one that is not known here */
	bool begins;	       /* it only begins: TPROF_COMM_NONBLOCKING */
	bool again;	       /* TPROF_COMM_PERSISTENT */
	bool both;	       /* it sends and receives: `source` and `source_tag` */
	uint32_t communicator; /* 0: not known */
	int32_t peer, tag, source, source_tag;
	uint32_t node; /* of the file */
	uint64_t sequence, sent, received, request;
	bool parts;	    /* TPROF_COMM_PARTS: some parts of what it receives are empty */
	uint8_t part_bytes; /* of the bits that tell which are not; 0: that is not known */
	uint8_t part_bits[TPROF_COMM_PARTS_BYTES];
};

/* COMM_DONE. */
struct tpa_comm_done {
	uint64_t request; /* 0: the call itself */
	uint64_t bytes;
	int32_t source, tag;
	bool status; /* source, tag and bytes are known */
	bool cancelled, freed;
};

/* The name of what a call asks for; "?" if it is not known. */
const char *tpa_comm_name(unsigned what);

/* Of enum tprof_group; the same. */
const char *tpa_group_name(unsigned kind);

/*
 * Decode the payload behind a record's fixed fields. False: it is malformed, of a kind that is not known, or incomplete.
 * Counters and parts of memory that a record leaves out are 0.
 */
bool tpa_work_read(struct tpa_work *work, const uint8_t *bytes, size_t length);
bool tpa_fold_read(struct tpa_folded *folded, const uint8_t *bytes, size_t length);
bool tpa_usage_read(struct tpa_usage *usage, const uint8_t *bytes, size_t length);
bool tpa_allocator_read(struct tpa_allocator *allocator, const uint8_t *bytes, size_t length);
bool tpa_region_read(struct tpa_region *region, const uint8_t *bytes, size_t length);
bool tpa_comm_read(struct tpa_comm *comm, const uint8_t *bytes, size_t length);
bool tpa_comm_done_read(struct tpa_comm_done *done, const uint8_t *bytes, size_t length);
void tpa_counters_read(struct tpa_counters *counters, uint64_t idle_ns, const uint8_t *bytes, size_t length);
void tpa_memory_parts_read(struct tpa_memory_parts *parts, const uint8_t *bytes, size_t length);

#endif
