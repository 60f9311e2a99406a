/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace format, version 1: the only thing that libtprof.so (the writer) and tprof-analyze (the reader) share.
 * tprof-trace(5) is the normative text; this header gives it names. All numbers are little endian.
 *
 *   file   := header chunk*
 *   header := struct tprof_header (tprof/header.h), then text, TPROF_HEADER_SIZE bytes in all
 *   chunk  := struct tprof_chunk, then records, chunk_size bytes in all; the first `committed` bytes after the
 *             chunk header are valid, the rest has no meaning (the writer may have died in the middle of a record)
 *
 * An event chunk belongs to one thread at a time and contains what happened, in order. A table chunk contains what
 * events refer to: modules, frames, stack nodes. A table record is in the file before any event that refers to it is
 * committed. A ring (TPROF_RING) has two more kinds of chunk, and uses the place of an event chunk again once a
 * checkpoint contains its events. A chunk of events is known by its place and the ticks of its begin.
 */
#ifndef TPROF_FORMAT_H
#define TPROF_FORMAT_H

#include <stdint.h>

#include <tprof/comm.h>
#include <tprof/header.h>
#include <tprof/work.h>

#define TPROF_MAGIC "TPROF\r\n\032" /* 8 bytes, without the terminating NUL */
#define TPROF_VERSION 1u
#define TPROF_HEADER_SIZE 16384u /* struct tprof_header at 0, text from TPROF_TEXT_OFFSET on */
#define TPROF_TEXT_OFFSET 2048u
#define TPROF_COUNTERS_MAX 8u	      /* the most counters of a trace */
#define TPROF_CHUNK_MAGIC 0x4b435054u /* "TPCK" */
#define TPROF_CHUNK_SIZE 65536u	      /* used by the writer; a reader uses the header's chunk_size */

/* ---- chunks ------------------------------------------------------------------------------------------------- */

enum tprof_chunk_kind {
	TPROF_CHUNK_EVENTS = 1,
	TPROF_CHUNK_TABLES = 2,
	TPROF_CHUNK_RING = 3,  /* chunk 0 of a ring: enum tprof_place of each chunk of the file, a byte each */
	TPROF_CHUNK_STATE = 4, /* a part of a checkpoint: struct tprof_checkpoint */
};

/* What a ring's chunk is used for. */
enum tprof_place {
	TPROF_PLACE_USED = 0,  /* being written, or not used yet, or not of events */
	TPROF_PLACE_FREE = 1,  /* its events are in the checkpoint; its header is zeros, and it may be used again */
	TPROF_PLACE_ENDED = 2, /* of events; no more records will follow */
};

#define TPROF_RING_LEAST (UINT64_C(4) << 20) /* bytes of the smallest ring, and of the largest */
#define TPROF_RING_MOST (UINT64_C(4) << 30)

#define TPROF_CHUNK_TIMED 10u
struct tprof_chunk {
	uint32_t magic; /* TPROF_CHUNK_MAGIC; 0: handed out, not yet begun */
	uint32_t kind;	/* enum tprof_chunk_kind */
	/* Event chunks: number of the thread that began the chunk (1, 2, ... in order of first event) */
	uint32_t thread;
	uint32_t tid; /* its kernel thread id */
	/* The time of the first record counts from begin.ticks >> tick_shift */
	struct tprof_moment begin;
	/* Valid bytes after this header; stored with release semantics after the record that they end with */
	uint64_t committed;
	/*
	 * Estimate of the ticks spent recording the events of this chunk, without those of hooked functions: 64 times
	 * the ticks of the timed events
	 */
	uint64_t overhead_ticks;
	uint64_t overhead_samples; /* number of timed events */
	union {
		uint64_t reserved[2]; /* in table chunks: for the writer */
		struct {
			uint64_t free_ticks;   /* the part of overhead_ticks for frees */
			uint32_t free_samples; /* the part of overhead_samples for frees */
			uint32_t free_timed;   /* bit i: timed[i] is of a free */
		};
	};
	/* Ticks of some of the timed events, each with the same chance to be included; 0: unused */
	uint32_t timed[TPROF_CHUNK_TIMED];
};

/* ---- records ------------------------------------------------------------------------------------------------ */

/*
 * uvarint: 7 bits a byte, low bits first, high bit set on all but the last byte; at most 10 bytes.
 * svarint: uvarint of (n << 1) ^ (n >> 63).
 *
 * Every record begins with a tag byte. Its two low bits are the class:
 */
enum tprof_class {
	/*
	 * tag >> 2 is the type, then uvarint length, then that many bytes; unknown types are skipped. Tag 0 is not a
	 * record: it ends the chunk.
	 */
	TPROF_CLASS_LONG = 0,
	TPROF_CLASS_ALLOC = 1, /* event chunks */
	TPROF_CLASS_FREE = 2,  /* event chunks */
	TPROF_CLASS_OP = 3,    /* event chunks */
	TPROF_CLASS_NODES = 1, /* table chunks */
	TPROF_CLASS_JOIN = 2,  /* table chunks */
};

/*
 * Event coding state, one per event chunk, reset at the chunk's start and by a THREAD record:
 *   time     starts at begin.ticks >> tick_shift (THREAD: its own ticks >> tick_shift)
 *   address  0: last address coded by a delta, in units of 8 bytes
 *   stack    0: stack node of the last record that had one
 *   delta    0: last stack node coded by a delta
 *   addresses[256], stacks[256]: all 0
 *
 * ALLOC: tag, uvarint dtime, ADDRESS, uvarint size, [uvarint usable - size, TPROF_ALLOC_USABLE], [fn byte and log2 of
 *        the alignment byte, TPROF_ALLOC_FN], [byte MEAN, TPROF_ALLOC_MEAN], STACK
 * FREE:  tag, uvarint dtime, ADDRESS, [fn byte, TPROF_FREE_FN]
 *
 * OP:    tag, uvarint dtime, and without TPROF_OP_END: uvarint op (a table record names it). With TPROF_OP_END it ends
 *        the thread's innermost op that is open; TPROF_OP_UNWOUND: it did not return, an exception or longjmp left it.
 *        With TPROF_OP_OUTER too: uvarint n: it ends the op that has n open ones in it, which stay open.
 *
 * dtime:   added to time.
 * ADDRESS: TPROF_TAG_ADDRESS_INDEX: one byte i: the address is addresses[i]. Else svarint d: address += d; the
 *          address in bytes is 8 * address, and addresses[tprof_address_slot(address)] = address. (An address that is
 *          not a multiple of 8 has no short form: its event is a LONG record, TPROF_EVENT_ALLOC or _FREE.)
 * STACK:   two bits of the tag: SAME: stack; INDEX: one byte i: stacks[i]; DELTA: svarint d: delta += d, the node is
 *          delta, stacks[tprof_stack_slot(node)] = node. In all cases stack = node.
 * size:    bytes requested. usable: what malloc_usable_size says; without TPROF_ALLOC_USABLE it is
 *          tprof_usable_guess(size).
 * MEAN:    log2 of the mean, in bytes, by which this block was sampled; 0: all blocks were recorded, so it stands for itself
 *          alone. Without it the block was sampled by header.sample_bytes, unless that is 0.
 */
#define TPROF_TAG_ADDRESS_INDEX 0x04u /* ALLOC, FREE */
#define TPROF_ALLOC_STACK_SHIFT 3     /* two bits */
#define TPROF_ALLOC_USABLE 0x20u
#define TPROF_ALLOC_FN 0x40u /* absent: TPROF_FN_MALLOC */
#define TPROF_ALLOC_MEAN 0x80u
#define TPROF_FREE_FN 0x08u /* absent: TPROF_FN_FREE */

#define TPROF_OP_END 0x04u
#define TPROF_OP_UNWOUND 0x08u
#define TPROF_OP_OUTER 0x10u

enum tprof_stack_form {
	TPROF_STACK_SAME = 0,
	TPROF_STACK_INDEX = 1,
	TPROF_STACK_DELTA = 2,
};

/* Functions that allocate or free. A call is one event, whatever functions it calls itself. */
enum tprof_fn {
	TPROF_FN_MALLOC,
	TPROF_FN_CALLOC,
	TPROF_FN_REALLOC,
	TPROF_FN_REALLOCARRAY,
	TPROF_FN_MEMALIGN,
	TPROF_FN_POSIX_MEMALIGN,
	TPROF_FN_ALIGNED_ALLOC,
	TPROF_FN_VALLOC,
	TPROF_FN_PVALLOC,
	TPROF_FN_NEW,
	TPROF_FN_NEW_ARRAY,
	TPROF_FN_MALLOCX,
	TPROF_FN_RALLOCX,
	TPROF_FN_XALLOCX,
	/* PyObject_Malloc, PyMem_Malloc and the like, with TPROF_PYTHON=alloc */
	TPROF_FN_PYTHON_MALLOC = 16,
	TPROF_FN_PYTHON_CALLOC,
	TPROF_FN_PYTHON_REALLOC,
	/* of an allocator that a rule describes, tprof-rules(5) */
	TPROF_FN_RULED_ALLOC = 20,
	TPROF_FN_RULED_REALLOC,
	TPROF_FN_FREE = 32,
	TPROF_FN_CFREE,
	TPROF_FN_FREE_SIZED,
	TPROF_FN_FREE_ALIGNED_SIZED,
	TPROF_FN_DELETE,
	TPROF_FN_DELETE_ARRAY,
	TPROF_FN_DALLOCX,
	TPROF_FN_SDALLOCX,
	TPROF_FN_PYTHON_FREE = 48,
	TPROF_FN_RULED_FREE = 52,
};
/*
 * REALLOC, REALLOCARRAY, RALLOCX, XALLOCX and PYTHON_REALLOC are a FREE of the old block with that fn, written before
 * the real call, and an ALLOC with the same fn, written after it. If the call failed, a CANCEL follows instead of the
 * ALLOC: the old block lives on unchanged. realloc(NULL, n) is the ALLOC alone; realloc(p, 0) that returns NULL is the
 * FREE alone.
 */

/*
 * LONG records of event chunks: tag is type << 2, then length, then the fields named here. All but THREAD begin with
 * dtime, including types that this version does not know: a reader adds it to time, then skips the rest. LONG records
 * leave the rest of the coding state unchanged.
 */
enum tprof_event_type {
	/*
	 * uvarint ticks (absolute, not shifted), uvarint thread, uvarint tid: from here on the chunk belongs to another
	 * thread (its first owner has ended)
	 */
	TPROF_EVENT_THREAD = 1,
	TPROF_EVENT_CANCEL = 2, /* uvarint dtime: the thread's last FREE (or UNMAP) did not happen */
	/*
	 * uvarint dtime, uvarint address / 4096, uvarint length in bytes, uvarint prot, uvarint flags (of mmap;
	 * MAP_REMAP for mremap), uvarint stack node
	 */
	TPROF_EVENT_MAP = 3,
	/*
	 * uvarint dtime, uvarint address / 4096, uvarint length in bytes, uvarint 1 if it is the first half of an
	 * mremap
	 */
	TPROF_EVENT_UNMAP = 4,
	/*
	 * uvarint dtime, uvarint RSS bytes / 4096, uvarint VMS bytes / 4096. Two fields may follow: the parts of RSS in
	 * files and in shared memory. Then three more may follow, counted parts of RSS: the collector's tables, the
	 * threads' stacks, private anonymous memory that the program mapped; all bytes / 4096
	 */
	TPROF_EVENT_MEMORY = 5,
	TPROF_EVENT_NAME = 6, /* uvarint dtime, rest: the thread's name */
	/*
	 * uvarint dtime, uvarint address in bytes, uvarint size, uvarint usable, fn byte, log2 alignment byte, uvarint
	 * stack node, and if there is one more byte, MEAN: an ALLOC that has no short form
	 */
	TPROF_EVENT_ALLOC = 7,
	TPROF_EVENT_FREE = 8, /* uvarint dtime, uvarint address in bytes, fn byte */
	/*
	 * uvarint dtime, uvarint stack node, uvarint periods: the thread was at this stack when its CPU clock had
	 * passed header.cpu_period_ns, `periods` times since its last sample (more than once if the signal came late)
	 */
	TPROF_EVENT_SAMPLE = 9,
	/*
	 * uvarint dtime, uvarint FLOP, uvarint bytes moved, rest: shape as text. Belongs to the thread's innermost open
	 * op; 0 and "": unknown
	 */
	TPROF_EVENT_DETAIL = 10,
	/* uvarint dtime, uvarint items processed in it (0: unknown): a training step ends */
	TPROF_EVENT_STEP = 11,
	TPROF_EVENT_MARK = 12, /* uvarint dtime, rest: text */
	/*
	 * uvarint dtime, uvarint kind (enum tprof_work), byte element type, byte flags, rest: the dimensions, uvarints.
	 * Belongs to the thread's innermost open op, a typed kernel
	 */
	TPROF_EVENT_WORK = 13,
	/*
	 * uvarint dtime, uvarint op, byte length and as many bytes, which are those of a WORK after its dtime (length
	 * 0: not typed), padding, and at its end struct tprof_fold. Calls of an op that are too short and too many for
	 * events of their own
	 */
	TPROF_EVENT_FOLD = 14,
	/*
	 * uvarint dtime, uvarint address in bytes, uvarint size, uvarint pool, uvarint stack node: the program's own
	 * allocator handed out a block. pool: address of the live heap block in which it lies, and which the program
	 * uses only for its pool; or another number that the program gave. If there is one more byte, it is MEAN
	 */
	TPROF_EVENT_POOL_ALLOC = 15,
	/*
	 * uvarint dtime, uvarint address in bytes, byte: 0 the block at that address was freed, 1 all blocks of the
	 * pool with that address were freed
	 */
	TPROF_EVENT_POOL_FREE = 16,
	/* uvarint dtime: until RESUME only ends are recorded: frees, unmappings, ends of ops, and reallocations */
	TPROF_EVENT_PAUSE = 17,
	TPROF_EVENT_RESUME = 18, /* uvarint dtime */
	/*
	 * uvarint dtime, uvarint nanoseconds for which the thread ran but its hardware counters did not, then for each
	 * counter of the table, in order of its number, uvarint its increase. All are since the thread's previous
	 * COUNTERS record, or since the thread began. Comes before each begin and end of an op, and belongs to the ops
	 * that are open by then
	 */
	TPROF_EVENT_COUNTERS = 19,
	/*
	 * uvarint dtime, then for the process up to now, uvarints: minor page faults, major ones, voluntary context
	 * switches, involuntary ones, nanoseconds of CPU time; then the writing thread's nanoseconds of CPU time. Comes
	 * before a STEP (unless there was one just before), before the end of a backward pass of torch, and every 10 ms
	 */
	TPROF_EVENT_USAGE = 20,
	/*
	 * uvarint dtime, uvarint enum tprof_allocator, then the allocator's own statistics, uvarints, bytes. Follows a
	 * MEMORY of about the same moment
	 */
	TPROF_EVENT_ALLOCATOR = 21,
	/*
	 * uvarint dtime, uvarint op: the thread's innermost op was called with the sizes of that op, which has the same
	 * name (TPROF_TABLE_SHAPE). Used if the sizes became known while the op ran
	 */
	TPROF_EVENT_SHAPE = 22,
	/*
	 * uvarint dtime, byte enum tprof_region_kind, uvarint address / 4096, uvarint pages, uvarint file (for END:
	 * number of REGION records of this reading before it), then the sizes of enum tprof_region_size, uvarints, KiB.
	 * Part of a reading of smaps: all from one thread, the last one is an END; a reading without it is incomplete
	 */
	TPROF_EVENT_REGION = 23,
	/*
	 * uvarint dtime, byte MEAN, byte 1 if calls of hooked functions are recorded (else 0): what is recorded from here
	 * on, until the next LEVEL of any thread. In a trace with header.max_overhead; before the first one, everything is.
	 * Functions whose calls end steps or backward passes are always recorded
	 */
	TPROF_EVENT_LEVEL = 24,
	/*
	 * uvarint dtime, byte enum tprof_comm, byte enum tprof_comm_flags, uvarint communicator (0: not known), uvarint
	 * sequence, svarint peer, svarint tag, uvarint bytes sent, uvarint bytes received, uvarint request (0: none), uvarint
	 * stack node of the call: what the thread's innermost open op, a call that communicates, was asked for. With
	 * TPROF_COMM_SENDRECV two more svarints: the peer and the tag of what is received. See tprof/comm.h
	 */
	TPROF_EVENT_COMM = 25,
	/*
	 * uvarint dtime, uvarint request, byte enum tprof_comm_done: a request is complete (0: no request, the call
	 * itself), as the thread's innermost open op found. With TPROF_COMM_DONE_STATUS then svarint source, svarint tag,
	 * uvarint bytes: of the message that was received
	 */
	TPROF_EVENT_COMM_DONE = 26,
	/*
	 * uvarint dtime, uvarint op, uvarint ticks >> tick_shift that it took, uvarint stack node: a call of a function of libc
	 * that may wait has returned, whose name is that op's. No op of its own: there is no OP_BEGIN. Only of a process that a
	 * launcher started, and of calls that took a millisecond and more
	 */
	TPROF_EVENT_WAITED = 27,
};

enum tprof_region_kind {
	TPROF_REGION_END = 0,
	TPROF_REGION_ANONYMOUS = 1, /* private */
	TPROF_REGION_HEAP = 2,	    /* [heap]: brk() */
	TPROF_REGION_FILE = 3,	    /* all adjacent mappings of it */
	TPROF_REGION_SHARED = 4,    /* shared memory: anonymous, /dev/shm, memfd, System V */
	TPROF_REGION_STACK = 5,	    /* the first thread's stack */
	TPROF_REGION_TRACE = 6,	    /* the trace itself */
	/* The kernel's own; and at address 0 what remains if there are more than 2,048 regions */
	TPROF_REGION_OTHER = 7,
	/* Parts of ANONYMOUS regions, counted separately; of the sizes they have RSS alone: */
	TPROF_REGION_THREAD_STACK = 8,
	TPROF_REGION_OWN = 9, /* the collector's tables */
	TPROF_REGION_KINDS,
};

enum tprof_region_size {
	TPROF_REGION_RSS,
	TPROF_REGION_PSS,
	TPROF_REGION_PRIVATE, /* part of RSS: in this process alone */
	/* Part of RSS: not pages of a file; for a private mapping of a file, pages that were written to */
	TPROF_REGION_ANONYMOUS_PART,
	TPROF_REGION_SWAP,
	TPROF_REGION_SIZES,
};

/* The allocator that the numbers of ALLOCATOR come from. */
enum tprof_allocator {
	TPROF_ALLOCATOR_JEMALLOC = 1, /* its stats.allocated, active, metadata, resident, mapped, retained */
};
#define TPROF_ALLOCATOR_NUMBERS 6u

/*
 * Folded calls. Each call was open while the op was innermost that is innermost when the record is read, and no event
 * of its thread happened during the call. The record is updated in place after it was committed: it is the only record
 * that changes. It is no longer updated once the thread's open ops change for good, its chunk ends, a step ends, or it
 * is full, with TPROF_FOLD_CALLS at the latest. Durations are ticks, not shifted; bucket i of the histogram counts
 * durations from tprof_fold_low(i) to tprof_fold_low(i + 1) - 1.
 *
 * TPROF_FOLD_SHARE: the calls are so short that time stamps would take longer than the calls. Each call was timed with
 * a chance of one in TPROF_FOLD_DISTANCE, independently of the others. `ticks`, `min`, `max` and the histogram are of
 * the timed calls, whose number is the histogram's sum. The last bucket also has durations longer than any bucket.
 * `calls` and `units` are of all calls.
 *
 * TPROF_FOLD_LASTED: a u64 comes directly before the struct. It is 0, or its lower half is the ticks from the begin of
 * the first call to the end of the last timed call, and its upper half the number of calls in that time. Together they
 * can't have taken longer.
 */
#define TPROF_FOLD_BUCKETS 64u
#define TPROF_FOLD_CALLS 65535u
#define TPROF_FOLD_CALLS_SHARE (1u << 18) /* TPROF_FOLD_SHARE: and those up to the next timed call */
#define TPROF_FOLD_MIXED 1u
#define TPROF_FOLD_SHARE 2u
#define TPROF_FOLD_LASTED 4u
#define TPROF_FOLD_DISTANCE 256u
struct tprof_fold {
	uint64_t ticks; /* sum of the durations */
	/* WORK of one dimension: its sum over the calls. If it has several, all calls have the same dimensions */
	uint64_t units;
	uint32_t calls, min, max; /* min, max: ticks */
	/*
	 * TPROF_FOLD_MIXED: the one dimension was not the same in all calls; the WORK has the first call's.
	 * TPROF_FOLD_SHARE, TPROF_FOLD_LASTED
	 */
	uint32_t flags;
	uint16_t histogram[TPROF_FOLD_BUCKETS];
};

/* In addition to mmap's own flags: the second half of an mremap */
#define TPROF_MAP_REMAP (UINT64_C(1) << 32)

/* LONG records of table chunks. */
enum tprof_table_type {
	/*
	 * uvarint module (1, 2, ...), uvarint bias (run-time minus link-time address), uvarint start, uvarint end
	 * (run-time addresses of its image), uvarint ticks, byte length and bytes of the build-id, rest: path
	 */
	TPROF_TABLE_MODULE = 1,
	TPROF_TABLE_UNLOAD = 2, /* uvarint module, uvarint ticks: it was unloaded */
	/*
	 * uvarint frame (1, 2, ...), uvarint module or 0, uvarint pc - module start (module 0: pc), byte enum
	 * tprof_frame_flags
	 */
	TPROF_TABLE_FRAME = 3,
	/*
	 * uvarint op (1, 2, ...), byte enum tprof_op_origin, byte length and bytes of the category (may be empty),
	 * rest: name
	 */
	TPROF_TABLE_OP = 4,
	/*
	 * byte enum tprof_hooks, uvarint pointers, uvarint functions, rest: path of the object ("": the program): what
	 * was hooked in it, and what was not. Of an object's UNREACHED records the latest counts; records of other
	 * states are added up
	 */
	TPROF_TABLE_HOOKS = 8,
	/*
	 * uvarint ticks of the search, byte enum tprof_reach, uvarint node, uvarint op or 0, uvarint blocks, uvarint
	 * bytes: the live blocks of that stack and op in that class
	 */
	TPROF_TABLE_REACH = 9,
	/*
	 * uvarint value, rest: name: a value that the program reported (tprof_value); of two with the same name the
	 * later counts
	 */
	TPROF_TABLE_VALUE = 10,
	/*
	 * uvarint counter (1, 2, ...; 0: not available), uvarint errno (0: counted), byte enum tprof_counter_flags,
	 * rest: name
	 */
	TPROF_TABLE_COUNTER = 11,
	/*
	 * uvarint code (1, 2, ...), uvarint its first line, uvarint length and bytes of the qualified name, rest: file;
	 * both UTF-8. A code object of Python, or the like
	 */
	TPROF_TABLE_CODE = 5,
	/*
	 * uvarint frame (numbered together with FRAME), uvarint code (0: a call of the interpreter's loop that no
	 * longer has a frame, and is never shown), uvarint line (0: none), byte enum tprof_python_flags
	 */
	TPROF_TABLE_PYTHON = 6,
	/*
	 * The path of a file in perf's jitdump format, to which a compiler writes the names of the code that it makes
	 * at run time
	 */
	TPROF_TABLE_JITDUMP = 13,
	/*
	 * uvarint op, byte enum tprof_op_origin, byte length and bytes of the category, uvarint frame: an op named by
	 * the function that begins there
	 */
	TPROF_TABLE_OP_CODE = 12,
	/*
	 * uvarint op, then for each argument that may be a tensor, uvarints: TPROF_TENSOR_NONE; its type +
	 * TPROF_TENSOR_TYPE, the number of its sizes, and the sizes; or TPROF_TENSOR_LIST, the number of tensors, and
	 * each tensor in the same form. Calls with that op's number had tensors of these sizes; other ops have the same
	 * name for other sizes
	 */
	TPROF_TABLE_SHAPE = 14,
	TPROF_TABLE_FILE = 15, /* uvarint file (1, 2, ...), rest: path. REGION records refer to it */
	/*
	 * uvarint ticks of the search, uvarint link (1, 2, ... in each search), uvarint the link that it hangs under or
	 * 0, byte enum tprof_holder, uvarint blocks that the link stands for, uvarint items of the container, uvarint
	 * node that allocated the first of them (0: none), uvarint its size, uvarint blocks and uvarint bytes retained,
	 * byte length and bytes of the name, rest: type. A part of a path from a root to a block
	 */
	TPROF_TABLE_HOLDER = 16,
	/*
	 * uvarint ticks of the search, byte enum tprof_held, uvarint node, uvarint op or 0, uvarint link at the path's
	 * end, uvarint link that holds, uvarint blocks, uvarint bytes: of that stack and op, those that the link holds;
	 * uvarint blocks, uvarint bytes: all of them
	 */
	TPROF_TABLE_HELD = 17,
	/*
	 * uvarint ticks of the search, then uvarints: blocks, bytes, blocks reached, pointers, those into the inside of
	 * a block, bytes that could not be read, nanoseconds and bytes of memory that it took, links left out
	 */
	TPROF_TABLE_HOLDERS = 18,
	/*
	 * uvarint communicator (1, 2, ...), byte enum tprof_group, uvarint size, uvarint this process's rank in it, uvarint
	 * the communicator that it was made of or 0, uvarint sequence of the call that made it, svarint rank in the world of
	 * its rank 0 (-1: not known), svarint the colour that the call was given (-1: none), byte length and bytes of the
	 * name, then, if it has a topology, uvarint number of ranks that it receives from, these, uvarint number of
	 * ranks that it sends to, and these
	 */
	TPROF_TABLE_COMMUNICATOR = 19,
};

/* What keeps a block alive. Up to UNKNOWN: what a search begins with. */
enum tprof_holder {
	TPROF_HOLDER_GLOBAL = 1, /* a variable that other modules see */
	TPROF_HOLDER_STATIC = 2, /* another variable of a module */
	TPROF_HOLDER_TLS = 3,
	TPROF_HOLDER_STACK = 4, /* of a thread */
	TPROF_HOLDER_REGISTER = 5,
	TPROF_HOLDER_PYTHON = 6,  /* a module of Python, or a frame */
	TPROF_HOLDER_MEMORY = 7,  /* that the program mapped, or that its allocator keeps for itself */
	TPROF_HOLDER_UNKNOWN = 8, /* nothing that is known: an object of Python that no root leads to */
	TPROF_HOLDER_ROOTS,
	TPROF_HOLDER_BLOCK = 16,  /* a block of unknown type */
	TPROF_HOLDER_CXX = 17,	  /* an object of C++, or an array of pointers that it owns */
	TPROF_HOLDER_OBJECT = 18, /* an object of Python */
};

enum tprof_held {
	TPROF_HELD_STACK = 0,	/* blocks of one stack */
	TPROF_HELD_LARGEST = 1, /* no stack's: one of the largest holders of all */
};

#define TPROF_TENSOR_NONE 0u /* undefined, or does not keep its sizes where other tensors do */
#define TPROF_TENSOR_LIST 1u
#define TPROF_TENSOR_TYPE 2u /* + libtorch's number for the type of the elements: c10::ScalarType */

/*
 * What became of the pointers through which an object calls functions that are ops by their names, or of functions that
 * it defines.
 */
enum tprof_hooks {
	TPROF_HOOKS_DONE = 0,	     /* hooked */
	TPROF_HOOKS_PROTECTED = 1,   /* not: the pointer's page could not be made writable */
	TPROF_HOOKS_UNTOUCHABLE = 2, /* not: the function returns twice or belongs to the unwinder or the loader */
	TPROF_HOOKS_UNBOUND = 3,     /* not: the function was not found */
	/* Not: there was no room, or the system forbids code that was written at run time */
	TPROF_HOOKS_FULL = 4,
	/*
	 * Functions that it exports and no pointer leads to: calls within the object are bound directly (-Bsymbolic,
	 * hidden, no PLT), or there are none
	 */
	TPROF_HOOKS_UNREACHED = 5,
	/*
	 * No function: dlmopen was called for that object with a namespace of its own; nothing is recorded of the calls
	 * and allocations of the object and of objects that it loads
	 */
	TPROF_HOOKS_ELSEWHERE = 6,
	TPROF_HOOKS_CODE = 7, /* hooked in their own code: no pointer leads to them */
	/* Not in its code: instead of the object's path "PATH\nFUNCTION\nREASON"; no FUNCTION: more than are named */
	TPROF_HOOKS_REFUSED = 8,
	/* Functions of an allocator that a rule describes (tprof-rules(5)), hooked in their code: "PATH\nALLOCATOR\n" */
	TPROF_HOOKS_RULED = 9,
	/* One of them was not, and its blocks are missing: "PATH\nALLOCATOR\nFUNCTION: REASON" */
	TPROF_HOOKS_PART_RULED = 10,
	/* One that frees was not, so that nothing of the allocator is recorded: the same */
	TPROF_HOOKS_UNRULED = 11,
	TPROF_HOOKS_STATES,
};

/* Whether a live block can still be reached by pointers, in the words of Valgrind. */
enum tprof_reach {
	TPROF_REACH_DEFINITE = 1, /* nothing points to it */
	TPROF_REACH_INDIRECT = 2, /* only lost blocks point to it */
	TPROF_REACH_POSSIBLE = 3, /* only pointers into its inside point to it, or lead to it */
	TPROF_REACH_STILL = 4,	  /* a chain of pointers to beginnings leads to it */
};

enum tprof_op_origin {
	TPROF_OP_ANNOTATION = 1, /* include/tprof.h */
	TPROF_OP_FUNCTION = 2,	 /* a hooked function */
};

enum tprof_counter_flags {
	TPROF_COUNTER_USER = 1, /* counts user mode only: the kernel did not permit counting itself */
};

enum tprof_frame_flags {
	TPROF_FRAME_EXACT = 1,	  /* pc is the instruction that ran (interrupted by a signal), not a return address */
	TPROF_FRAME_LOOP = 2,	  /* in the loop of an interpreter, see TPROF_PYTHON_ENTRY */
	TPROF_FRAME_UNTABLED = 4, /* in a module, and no unwind table was found for it: its caller was found by rbp */
	TPROF_FRAME_CODE = 8,	  /* set with UNTABLED: not by rbp; its code was read to where it returns */
};

/*
 * JOIN: a node that stands for the stack of two together, a native and a Python one.
 *   tag       class TPROF_CLASS_JOIN and bits of enum tprof_join
 *   [svarint  node - expected, TPROF_JOIN_NODE]; else the node is the one expected, as in NODES
 *   [uvarint  node - native, TPROF_JOIN_NATIVE]; else native is node - 1
 *   [svarint  python - the Python node of the chunk's last JOIN (0 at its start), TPROF_JOIN_PYTHON]; else it is that
 */
enum tprof_join {
	TPROF_JOIN_NODE = 0x04,
	TPROF_JOIN_NATIVE = 0x08,
	TPROF_JOIN_PYTHON = 0x10, /* the bits above are 0 */
};

/*
 * The stack of a joined node: its native frames, each one that has TPROF_FRAME_LOOP with the Python frames that it runs
 * directly inside it. From the innermost outwards, the first such native frame takes the Python frames up to and
 * including the first that has TPROF_PYTHON_ENTRY, the next one the Python frames up to the next entry, and so on.
 * Python frames that remain after the last native frame are outside of all. Neither of the two nodes is a joined one.
 */
enum tprof_python_flags {
	TPROF_PYTHON_ENTRY = 1, /* the outermost frame of a call of the interpreter's loop */
};

/*
 * NODES: a chain of new stack nodes. A node is one frame of a stack, hung under its caller's node: a stack is named by
 * its innermost frame's node, and read by following parents outwards until a number below TPROF_NODE_FIRST.
 *   tag         class TPROF_CLASS_NODES; tag >> 2 is the number of nodes n, or 0: then uvarint n follows
 *   svarint     first - expected, where expected is the number behind the chunk's last NODES or JOIN record
 *               (0 at its start)
 *   uvarint     parent of the first node: (first - parent) << 1, or parent << 1 | 1 if parent < TPROF_NODE_FIRST
 *   n uvarint   the frames, outermost first
 * The nodes are numbered first, first + 1, ...; each after the first hangs under the one before it. Two nodes may have
 * the same parent and the same frame (two threads met it at once): they mean the same.
 */
enum tprof_node {
	TPROF_NODE_NONE = 0,   /* no stack */
	TPROF_NODE_ROOT = 1,   /* above the outermost frame */
	TPROF_NODE_CUT = 2,    /* the stack was deeper than TPROF_DEPTH: outer frames are missing */
	TPROF_NODE_SHORT = 3,  /* the walk ended early: outer frames may be missing */
	TPROF_NODE_FIRST = 16, /* the first number of a real node */
};

/* ---- what writer and reader must compute in the same way ----------------------------------------------------- */

/* Chunks that a ring of that size has; its first one has a byte for each. */
static inline uint32_t tprof_ring_places(uint64_t bytes)
{
	uint64_t places = bytes > TPROF_HEADER_SIZE ? (bytes - TPROF_HEADER_SIZE) / TPROF_CHUNK_SIZE : 0;
	uint64_t most = TPROF_CHUNK_SIZE - sizeof(struct tprof_chunk);

	return (uint32_t)(places < most ? places : most);
}

/* Slot of an address (in units of 8 bytes) in addresses[]. Multiplicative hashing, Knuth TAOCP 6.4. */
static inline uint32_t tprof_address_slot(uint64_t address8)
{
	return (uint32_t)((address8 * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* Slot of a stack node in stacks[]. */
static inline uint32_t tprof_stack_slot(uint32_t node)
{
	return (node * UINT32_C(0x9e3779b1)) >> 24;
}

/*
 * Bucket of a folded call's duration: four buckets for each power of two. Durations from 2^17 on have none: such calls
 * are not folded.
 */
static inline uint32_t tprof_fold_bucket(uint32_t ticks)
{
	uint32_t log = 31u - (uint32_t)__builtin_clz(ticks | 1);

	return ticks < 4 ? ticks : 4 * (log - 1) + (ticks >> (log - 2) & 3);
}

/* The shortest duration of a bucket, ticks. */
static inline uint32_t tprof_fold_low(uint32_t bucket)
{
	return bucket < 4 ? bucket : (4 + (bucket & 3)) << (bucket / 4 - 1);
}

/* Usable size of a glibc heap chunk of `size` requested bytes: 16-byte steps of 8 more than that, at least 24. */
static inline uint64_t tprof_usable_guess(uint64_t size)
{
	uint64_t usable = ((size + 8 + 15) & ~UINT64_C(15)) - 8;

	return usable < 24 ? 24 : usable;
}

#endif
