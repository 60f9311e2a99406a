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

#include "trace/trace.h"

struct tp_archive;

enum tp_event_kind {
	TP_EVENT_FREE,
	TP_EVENT_UNMAP,
	TP_EVENT_ALLOC,
	TP_EVENT_MAP,
	TP_EVENT_CANCEL,
	TP_EVENT_MEMORY,
	TP_EVENT_NAME,
	TP_EVENT_THREAD, /* the chunk went to another thread; `thread` and `tid` are the new ones */
	TP_EVENT_SAMPLE, /* of the CPU sampler: `node`, and in `size` the periods that it stands for */
	TP_EVENT_OP_BEGIN,
	TP_EVENT_OP_END,
	TP_EVENT_STEP,	 /* a training step ends */
	TP_EVENT_SHAPE,	 /* of the thread's innermost open op: as of that number */
	TP_EVENT_DETAIL, /* of the thread's innermost open op */
	TP_EVENT_MARK,
	TP_EVENT_PAUSE,	   /* recording pauses, in all threads */
	TP_EVENT_RESUME,   /* and goes on */
	TP_EVENT_COUNTERS, /* before a begin or end of an op: `name` has the increases, see model/samples/counters.h */
	TP_EVENT_POOL_ALLOC, /* a block of the program's own allocator */
	TP_EVENT_POOL_FREE,
	TP_EVENT_WORK,	    /* of the thread's innermost open op, see model/flop/work.h */
	TP_EVENT_FOLD,	    /* calls of an op without events of their own */
	TP_EVENT_USAGE,	    /* what the kernel counted up to now: `name` is for tp_usage_read() */
	TP_EVENT_ALLOCATOR, /* what the allocator says of itself: `name` is for tp_allocator_read() */
	TP_EVENT_REGION,    /* a part of the address space and its memory: `name` is for tp_region_read() */
	TP_EVENT_KINDS,
};

struct tp_event {
	uint8_t kind;		/* enum tp_event_kind */
	uint8_t fn;		/* ALLOC, FREE: enum tprof_fn */
	uint8_t alignment_log2; /* ALLOC: 0 if none was asked for */
	bool cancelled;		/* FREE, UNMAP: the CANCEL that follows directly says that it did not happen */
	bool remap;		/* MAP, UNMAP: half of an mremap */
	bool unwound;		/* OP_END: an exception or longjmp left it */
	uint32_t thread, tid;
	uint32_t node;	  /* ALLOC, MAP, POOL_ALLOC, SAMPLE: stack node, as in the file (see tp_trace_node) */
	uint64_t time;	  /* ticks >> header->tick_shift */
	uint64_t address; /* bytes */
	uint64_t size;	  /* ALLOC: bytes requested. MAP, UNMAP: length in bytes. MEMORY: RSS in bytes. OP_BEGIN: number
			   * of the op. OP_END: how many that are open are in it, and stay so. FOLD, SHAPE: the same. DETAIL: FLOP. STEP: items. COUNTERS: idle ns. POOL_ALLOC:
			   * bytes. POOL_FREE: 1 if all blocks of the pool at `address` end */
	uint64_t
		usable; /* ALLOC: usable bytes. MEMORY: VMS in bytes. MAP: flags of mmap. DETAIL: bytes moved. POOL_ALLOC:
			   * address of the pool, 0 if it has none */
	uint64_t prot; /* MAP */
	const char *
		name; /* NAME, MARK, DETAIL (shape), COUNTERS, MEMORY (for tp_memory_parts_read()): not terminated, valid until the next event. WORK: bytes, for
			   * tp_work_read(). FOLD: for tp_fold_read(); USAGE for tp_usage_read(), ALLOCATOR for
			   * tp_allocator_read(), REGION for tp_region_read() */
	uint32_t name_length;
	uint64_t offset; /* of its record in the file */
};

/* Whether an event of that kind has a `name`. */
static inline bool tp_event_has_text(unsigned kind)
{
	return (1u << TP_EVENT_NAME | 1u << TP_EVENT_DETAIL | 1u << TP_EVENT_MARK | 1u << TP_EVENT_COUNTERS |
		1u << TP_EVENT_MEMORY | 1u << TP_EVENT_WORK | 1u << TP_EVENT_FOLD | 1u << TP_EVENT_USAGE |
		1u << TP_EVENT_ALLOCATOR | 1u << TP_EVENT_REGION) >>
		       kind &
	       1;
}

/* Whether an event of that kind has a `node`. */
static inline bool tp_event_has_node(unsigned kind)
{
	return (1u << TP_EVENT_ALLOC | 1u << TP_EVENT_MAP | 1u << TP_EVENT_SAMPLE | 1u << TP_EVENT_POOL_ALLOC) >> kind &
	       1;
}

/* Events that are decoded already: whoever handles them can have memory fetched for those that come next. */
struct tp_events {
	const struct tp_event *at, *end;
};

/* NULL: no memory. Damage that is met goes to the trace's list. One reader of a trace at a time. */
struct tp_events *tp_events_open(struct tp_trace *trace);
void tp_events_close(struct tp_events *events);

const struct tp_event *tp_events_refill(struct tp_events *events);

/* The next event, owned by `events` and valid until the next call; NULL at the end, or when memory is out. */
static inline const struct tp_event *tp_events_next(struct tp_events *events)
{
	return __builtin_expect(events->at < events->end, 1) ? events->at++ : tp_events_refill(events);
}

/* The event that the call after `distance` more calls of tp_events_next() will return; NULL: not decoded yet. */
static inline const struct tp_event *tp_events_ahead(const struct tp_events *events, ptrdiff_t distance)
{
	return events->end - events->at > distance ? events->at + distance : NULL;
}

/* Whether NULL meant that memory is out. */
bool tp_events_failed(const struct tp_events *events);

/*
 * Saves how far the events were read, or makes events that were just opened go on from there: of the same file, which may
 * have grown. `unread`: the last event was given out and is to be given out again. Only the chunks that are open are
 * decoded anew, from their begin.
 */
void tp_events_archive(struct tp_archive *archive, struct tp_events *events, bool unread);

/* Bytes of event chunks read so far, and in all. */
uint64_t tp_events_done(const struct tp_events *events);
uint64_t tp_events_total(const struct tp_events *events);

/* Word for an event's kind, and for the function of an ALLOC or FREE ("?" if unknown). */
const char *tp_event_kind_name(enum tp_event_kind kind);
const char *tp_fn_name(unsigned fn);

/* Of the functions that free, only these can fail and be cancelled. */
static inline bool tp_fn_reallocates(uint8_t fn)
{
	return fn == TPROF_FN_REALLOC || fn == TPROF_FN_REALLOCARRAY || fn == TPROF_FN_RALLOCX ||
	       fn == TPROF_FN_XALLOCX;
}

#endif
