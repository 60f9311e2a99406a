/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector keeps for a thread: its chunk, the coding state of format.h, and room for the stack walker. It
 * outlives the thread: TLS destructors allocate to the very end, so nobody is told when a thread is gone. A new thread
 * takes over what a dead one left, half-filled chunk included.
 */
#ifndef TPROF_CORE_THREAD_H
#define TPROF_CORE_THREAD_H

#include <tprof/format.h>

#include "core/base.h"

#define TP_WALK_BYTES (1536u * 1024u) /* untouched pages cost nothing */
#define TP_WALK_HEAD 64u	      /* zeroed when the thread changes: an empty walk */

enum tp_busy {
	TP_IDLE = 0,
	TP_BUSY_REAL,	/* in the real function: what it calls is part of this event */
	TP_BUSY_RECORD, /* recording: only a signal handler can come by, and its event is lost */
};

struct tp_range {
	uintptr_t low, high;
};

struct tp_thread {
	/* The hot path's. */
	uint8_t *at;	/* where the next record goes */
	uint8_t *limit; /* beyond it the chunk has no room for one */
	struct tprof_chunk *chunk;
	uint64_t time;	  /* of the last record, shifted ticks */
	uint64_t address; /* coding state, see format.h */
	uint32_t stack, delta;
	uint32_t busy; /* enum tp_busy */
	uint32_t number;
	uintptr_t busy_frame;	/* the hook's frame: a caller above it means that frame is gone (longjmp) */
	struct tp_range bounds; /* of the stack that the thread is on */
	uint64_t events;
	uint64_t last_block;   /* address of the last ALLOC */
	uint64_t until_sample; /* TPROF_ALLOC=sample: bytes to go; see hooks/memory/sample.h */
	uint64_t random;       /* its generator; 0: not seeded yet */
	uint64_t event_start;  /* ticks at which the recording of the current event began */

	/* The rest. */
	uint32_t tid; /* 0: free to take */
	uint32_t other_next;
	uint32_t timer;		   /* of the CPU sampler: the kernel's id + 1; 0: none */
	struct tp_range own;	   /* the thread's own stack */
	struct tp_range others[8]; /* coroutine and signal stacks that it was seen on, overwritten in turn */
	uint32_t searches;	   /* of /proc/self/maps */
	struct tp_thread *next;	   /* of all ever made */
	uint64_t addresses[256];
	uint32_t stacks[256];
	char scratch[4096]; /* for paths: the user's stack may be small */
	uint8_t walk[TP_WALK_BYTES] __attribute__((aligned(64)));
};

extern TP_TLS struct tp_thread *tp_self; /* NULL before the thread's first event */

/* The thread's struct, made or taken over from a dead thread. NULL: no memory; counted. */
TP_SLOW struct tp_thread *tp_thread_attach(void);

/* In a forked child: this thread is the only one, and what it recorded belongs to the parent. */
void tp_threads_forget(struct tp_thread *survivor);

/* Puts a new chunk in place of a full one. False: recording has stopped. */
TP_SLOW bool tp_thread_new_chunk(struct tp_thread *thread);

/* Is `frame` on a stack that the thread may be walked on? Finds its bounds. Slow: when it changes stacks. */
TP_SLOW bool tp_thread_find_stack(struct tp_thread *thread, uintptr_t frame);

/* Calls `visit` for every struct that was ever made. */
void tp_threads_each(void (*visit)(struct tp_thread *thread));

/* Called for each thread that attaches, once it is ready to record; NULL: nobody. Set once, at start. */
extern void (*tp_thread_attached)(struct tp_thread *thread);

static inline bool tp_thread_on_stack(const struct tp_thread *thread, uintptr_t frame)
{
	return frame - thread->bounds.low < thread->bounds.high - thread->bounds.low;
}

#endif
