/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a trace in the order in which they happened, all threads together. Chunks are read side by side through
 * small windows, so memory grows with the threads that were alive at once, never with the trace.
 *
 * Order: by time; of events of different threads at the same time, those that free go before those that allocate (an
 * address is released before it is reused). Within a thread the order is the thread's own, always.
 */
#ifndef TPROF_TRACE_EVENTS_H
#define TPROF_TRACE_EVENTS_H

#include "trace/payload.h"
#include "trace/trace.h"

struct tpa_archive;

enum tpa_event_kind {
	TPA_EVENT_FREE,
	TPA_EVENT_UNMAP,
	TPA_EVENT_ALLOC,
	TPA_EVENT_MAP,
	TPA_EVENT_CANCEL, /* the free or unmap directly before it did not happen */
	TPA_EVENT_MEMORY,
	TPA_EVENT_NAME,	  /* of the thread */
	TPA_EVENT_THREAD, /* the chunk went to another thread; `thread` and `tid` are the new ones */
	TPA_EVENT_SAMPLE, /* of the CPU sampler */
	TPA_EVENT_OP_BEGIN,
	TPA_EVENT_OP_END,
	TPA_EVENT_STEP,	  /* a training step ends */
	TPA_EVENT_SHAPE,  /* the thread's innermost open op has the shape of that op number */
	TPA_EVENT_DETAIL, /* of the thread's innermost open op */
	TPA_EVENT_MARK,
	TPA_EVENT_PAUSE,      /* recording pauses, in all threads */
	TPA_EVENT_RESUME,     /* and goes on */
	TPA_EVENT_COUNTERS,   /* before a begin or end of an op */
	TPA_EVENT_POOL_ALLOC, /* a block of the program's own allocator */
	TPA_EVENT_POOL_FREE,
	TPA_EVENT_WORK,	     /* of the thread's innermost open op */
	TPA_EVENT_FOLD,	     /* calls of an op without events of their own */
	TPA_EVENT_USAGE,     /* what the kernel counted up to now */
	TPA_EVENT_ALLOCATOR, /* the allocator's own statistics */
	TPA_EVENT_REGION,    /* a part of the address space and its memory */
	TPA_EVENT_LEVEL,     /* what is recorded from here on, in all threads */
	TPA_EVENT_COMM,	     /* of the thread's innermost open op: what it asks of other processes */
	TPA_EVENT_COMM_DONE, /* that op found that a request is complete */
	TPA_EVENT_WAITED,    /* the thread has waited in a function of libc */
	TPA_EVENT_KINDS,
};

/*
 * MEAN: log2 of the mean, in bytes, by which blocks are sampled. 0: all are recorded. TPA_MEAN_UNSAID: the record does not say it,
 * so the mean is that of the header.
 */
#define TPA_MEAN_MOST 62u
#define TPA_MEAN_UNSAID 63u

struct tpa_event_text {
	const char *text; /* not terminated */
	uint32_t length;
};

/*
 * One event: what all kinds have, and a union with a member for each kind that has more.
 * What a pointer leads to is valid until the next event. NULL: the record's payload is malformed.
 */
struct tpa_event {
	uint8_t kind;	/* enum tpa_event_kind */
	bool cancelled; /* FREE, UNMAP: the CANCEL that follows directly says that it did not happen */
	uint32_t thread, tid;
	uint32_t
		node; /* ALLOC, MAP, POOL_ALLOC, SAMPLE, COMM, WAITED: the number that the file has for the stack: see tpa_event_node() */
	uint64_t time;	 /* ticks >> header->tick_shift */
	uint64_t offset; /* of its record in the file */
	union {
		/* The first fields of ALLOC and POOL_ALLOC; the address is also the first field of FREE and POOL_FREE. */
		struct {
			uint64_t address, bytes;
		} block;
		struct {
			uint64_t address, bytes; /* as requested */
			uint64_t usable;
			uint8_t fn;		/* enum tprof_fn */
			uint8_t alignment_log2; /* 0: none was asked for */
			uint8_t mean;		/* MEAN */
		} alloc;
		struct {
			uint64_t address;
			uint8_t fn; /* enum tprof_fn */
		} free;
		struct {
			uint64_t address, length, prot;
			uint32_t flags; /* of mmap */
			bool remap;	/* second half of an mremap */
		} map;
		struct {
			uint64_t address, length;
			bool remap; /* first half of an mremap */
		} unmap;
		struct {
			uint64_t rss, vms; /* bytes */
			const struct tpa_memory_parts *parts;
		} memory;
		struct tpa_event_text name, mark;
		struct {
			uint64_t periods; /* that it stands for */
		} sample;
		struct {
			uint64_t op; /* number */
		} op_begin, shape;
		struct {
			uint64_t kept; /* how many open ops lie inside it and stay open */
			bool unwound;  /* an exception or longjmp left it */
		} op_end;
		struct {
			uint64_t items;
		} step;
		struct {
			uint64_t flop, bytes; /* bytes moved */
			struct tpa_event_text shape;
		} detail;
		const struct tpa_counters *counters;
		struct {
			uint64_t address, bytes;
			uint64_t pool; /* address of the pool; 0: it has none */
			uint8_t mean;  /* MEAN */
		} pool_alloc;
		struct {
			uint64_t address;
			bool whole; /* all blocks of the pool at that address end */
		} pool_free;
		const struct tpa_work *work;
		struct {
			uint64_t op;
			const struct tpa_folded *calls;
		} fold;
		const struct tpa_usage *usage;
		const struct tpa_allocator *allocator;
		const struct tpa_region *region;
		struct {
			uint8_t mean; /* MEAN */
			bool ops;     /* calls of hooked functions are recorded */
		} level;
		const struct tpa_comm *comm;
		const struct tpa_comm_done *comm_done;
		struct {
			uint64_t op;	/* has the function's name */
			uint64_t ticks; /* that it took */
		} waited;
	};
};

/* Whether events of that kind have a text or a payload, which lies in the reader's memory. */
static inline bool tpa_event_has_payload(unsigned kind)
{
	return (1u << TPA_EVENT_NAME | 1u << TPA_EVENT_DETAIL | 1u << TPA_EVENT_MARK | 1u << TPA_EVENT_COUNTERS |
		1u << TPA_EVENT_MEMORY | 1u << TPA_EVENT_WORK | 1u << TPA_EVENT_FOLD | 1u << TPA_EVENT_USAGE |
		1u << TPA_EVENT_ALLOCATOR | 1u << TPA_EVENT_REGION | 1u << TPA_EVENT_COMM |
		1u << TPA_EVENT_COMM_DONE) >>
		       kind &
	       1;
}

/* The trace's node of an event that has a `node`: its stack, in which code made at run time is what it was then. May add nodes. */
uint32_t tpa_event_node(const struct tpa_trace *trace, const struct tpa_event *event);

/* Whether an event of that kind has a `node`. */
static inline bool tpa_event_has_node(unsigned kind)
{
	return (1u << TPA_EVENT_ALLOC | 1u << TPA_EVENT_MAP | 1u << TPA_EVENT_SAMPLE | 1u << TPA_EVENT_POOL_ALLOC |
		1u << TPA_EVENT_COMM | 1u << TPA_EVENT_WAITED) >>
		       kind &
	       1;
}

/* The op that the event names; 0: its kind names none. */
static inline uint64_t tpa_event_op(const struct tpa_event *event)
{
	switch (event->kind) {
	case TPA_EVENT_OP_BEGIN:
		return event->op_begin.op;
	case TPA_EVENT_SHAPE:
		return event->shape.op;
	case TPA_EVENT_FOLD:
		return event->fold.op;
	case TPA_EVENT_WAITED:
		return event->waited.op;
	default:
		return 0;
	}
}

/* Events that are decoded already, so that their handler can prefetch memory for those that come next. */
struct tpa_events {
	const struct tpa_event *at, *end;
};

/* Damage that is met is added to the trace's list. Not thread-safe. */
struct tpa_events *tpa_events_open(struct tpa_trace *trace);
void tpa_events_close(struct tpa_events *events);

const struct tpa_event *tpa_events_refill(struct tpa_events *events);

/* The next event, owned by `events` and valid until the next call; NULL at the end. */
static inline const struct tpa_event *tpa_events_next(struct tpa_events *events)
{
	return __builtin_expect(events->at < events->end, 1) ? events->at++ : tpa_events_refill(events);
}

/* The event that tpa_events_next() returns after `distance` more calls; NULL: it is not decoded yet. */
static inline const struct tpa_event *tpa_events_ahead(const struct tpa_events *events, ptrdiff_t distance)
{
	return events->end - events->at > distance ? events->at + distance : NULL;
}

/* Whether the events ended early because a refreshed file does not match what was read of it before. */
bool tpa_events_failed(const struct tpa_events *events);

/*
 * Saves how far the events were read, or makes events that were just opened continue from there, in the same file, which may
 * have grown. `unread`: the event that was given out last is to be given out again. Only chunks that are open are decoded anew,
 * from their begin.
 */
void tpa_events_archive(struct tpa_archive *archive, struct tpa_events *events, bool unread);

/*
 * Lists the chunks that were read to their ends: fills in their offsets in the file and returns their number. `offsets` has
 * room for all event chunks. A saved state does not need these chunks.
 */
size_t tpa_events_read(const struct tpa_events *events, bool unread, uint64_t *offsets);

/* Where the chunk of the event that was given out last is in the file. */
uint64_t tpa_events_place(const struct tpa_events *events);

/* Another reader that continues where this one is; `unread` as above. */
struct tpa_events *tpa_events_copy(struct tpa_events *events, bool unread);

/* Bytes of event chunks read so far, and in all. */
uint64_t tpa_events_done(const struct tpa_events *events);
uint64_t tpa_events_total(const struct tpa_events *events);

/* The name of an event's kind, and of the function of an ALLOC or FREE ("?" if unknown). */
const char *tpa_event_kind_name(enum tpa_event_kind kind);
const char *tpa_fn_name(unsigned fn);

/* Of the functions that free, only these can fail and be cancelled. */
static inline bool tpa_fn_reallocates(uint8_t fn)
{
	return fn == TPROF_FN_REALLOC || fn == TPROF_FN_REALLOCARRAY || fn == TPROF_FN_RALLOCX ||
	       fn == TPROF_FN_XALLOCX || fn == TPROF_FN_RULED_REALLOC;
}

#endif
