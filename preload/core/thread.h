/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector keeps for a thread: its chunk, the coding state of format.h, and memory of the stack walker. It
 * outlives the thread: destructors of TLS allocate until the very end, so there is no moment at which a thread is known
 * to be gone. A new thread takes over the struct of a dead one, with its half-filled chunk.
 */
#ifndef TPROF_CORE_THREAD_H
#define TPROF_CORE_THREAD_H

#include <tprof/format.h>

#include "core/base.h"
#include "core/fold_state.h"
#include "core/predictor.h"
#include "core/perf.h"
#include "core/timed.h"

#ifdef TPROF_VERIFY /* libunwind runs on it too */
#define TPC_HANDLER_STACK_END 262144u
#else
#define TPC_HANDLER_STACK_END 16384u
#endif

#define TPC_WALK_BYTES (1536u * 1024u) /* untouched pages cost nothing */
#define TPC_PYTHON_BYTES (192u * 1024u)
#define TPC_WAITS_BYTES (64u * 1024u)
#define TPC_RULES_BYTES 768u
#define TPC_WALK_HEAD 64u /* zeroed when the thread changes: an empty walk */

#define TPC_ANNOTATED_MAX 256u	   /* hooks/ops/told/annotate.c: less is known of deeper ones */
#define TPC_INSTRUMENTED_MAX 1024u /* hooks/ops/told/instrument.c: deeper ones are counted as lost */
#define TPC_OPS_MAX 256u	   /* nested ops of one thread; deeper calls are made, and counted as lost */

enum tpc_busy {
	TPC_IDLE = 0,
	TPC_BUSY_REAL,	 /* in the real function: hooked calls that it makes are part of this event */
	TPC_BUSY_RECORD, /* recording: only a signal handler can interrupt it, and its events are lost */
};

/* An open hooked op. One cache line. */
struct tpc_open_op {
	uint64_t start, events; /* ticks at its begin; the thread's events just after it */
	uint64_t shape;		/* for its slot */
	struct tpc_fold_slot *slot;
	uintptr_t frame;
	uint64_t scope;	    /* fold.scope of the op around it */
	uintptr_t outer;    /* and fold.outer */
	const void *ending; /* hooks/ops/call.c's: of what function its end calls for more than its event; NULL: none */
} __attribute__((aligned(64)));

/* What is known of the place of a call, for hooks/ops/window.h: a thread calls from a few hundred places. */
struct tpc_caller {
	uintptr_t pc;	/* the return address; 0: none */
	uint32_t epoch; /* tpc_frames_epoch up to which that code is unchanged */
	int32_t rule; /* where the caller's frame ends: the offset of its struct tpc_rule, a multiple of 8, and the kind */
};

/* An open function that reported its own begin. */
struct tpc_instrumented {
	uintptr_t frame;  /* the end of its caller's frame; the stack pointer if that is unknown */
	uintptr_t caller; /* its return address */
	uintptr_t begin;  /* behind the instruction that reported it */
	uint32_t op;
	uint16_t hooked; /* hooked ops that were open then */
	bool known;	 /* the return address stands just below `frame` */
};

#define TPC_CALLERS 512u    /* a power of two */
#define TPC_CALLERS_WAYS 4u /* each has a choice of that many places, in one cache line */

/* The thread's registers when it called a function that may wait (hooks/leakcheck/). One cache line. */
struct tpc_wait {
	uint64_t sp, caller;	   /* stack pointer, and the return address there; 0: no such call yet */
	uint64_t kept[TPROF_KEPT]; /* callee-saved registers: rbx rbp r12 r13 r14 r15 */
} __attribute__((aligned(64)));

struct tpc_thread {
	uint8_t handler_stack[TPC_HANDLER_STACK_END]
		__attribute__((aligned(64))); /* the stack of the CPU sampler's handler */

	/* The hot path: every event uses the first two cache lines, ops the third. */
	uint8_t *at;		   /* where the next record goes */
	uint8_t *limit;		   /* from here on the chunk has no room for one */
	struct tprof_chunk *chunk; /* NULL, as `at` and `limit` are: it has none, or in a ring no longer */
	uint64_t time;		   /* of the last record, shifted ticks */
	uint64_t address;	   /* coding state, see format.h */
	uint32_t stack, delta;
	uint32_t busy; /* enum tpc_busy */
	uint32_t number;
	uintptr_t busy_frame;	 /* frame of the hook; a hook whose caller is above it means that a longjmp left it */
	uintptr_t busy_return;	 /* and the return address in it */
	struct tpc_range bounds; /* of the stack that the thread is on; tpc_thread_set_bounds() */
	uint64_t hot_extent;	 /* bytes of bounds if hooks may take their shortest path; else 0 */
	uint64_t events;
	uint64_t last_block;	  /* address of the last ALLOC */
	uint64_t extent;	  /* bytes of bounds */
	struct tpc_timed timed;	  /* which events are timed; the field that is asked ends the second line */
	uint64_t pass_extent;	  /* likewise, if allocations that are not recorded may be passed by */
	uint64_t until_sample;	  /* TPROF_ALLOC=sample: bytes to go; see hooks/memory/sample.h */
	uint64_t random;	  /* its generator; 0: not seeded yet */
	uint64_t event_start;	  /* ticks at which the recording of the current event began */
	uint32_t op_depth;	  /* hooked ops that are open */
	struct tpc_predictor ops; /* in which order they begin */
	struct tpc_wait wait;
	struct tpc_fold fold; /* calls that get no events of their own */

	/* The rest. */
	struct tpc_open_op op_open[TPC_OPS_MAX]; /* core/scope.h adds and takes away */
	tpc_shared_u32 tid;			 /* 0: free to take */
	struct tpc_perf perf;			 /* TPROF_COUNTERS */
	struct tpc_perf_values counters;	 /* as last recorded */
	struct tpc_range alternate;		 /* signal stack, as the program set it */
	bool named;				 /* in this trace, with a name that the kernel does not know */
	bool allocates;				 /* or frees: tpc_thread_allocates() was called */
	uint8_t drawn_log2, hit_log2; /* config.mean_log2 when until_sample was drawn, and for the last hit */
	bool signal_blocked;	      /* as far as the program knows, the sampler's signal is blocked here */
	bool vfork_child_blocked;     /* and in this thread's vfork child, which has the parent's memory */
	uint32_t vfork_child;	      /* pid of the child that has changed its mask; 0: none */
	tpc_shared_u32 timer;	      /* of the CPU sampler: the kernel's id + 1; 0: none */
	tpc_shared_u32 reclaimed;     /* core/reclaim.c: whether another thread takes its chunk */
	uint32_t chunks;	      /* chunks that it began, until tpc_space_gather() */
	uint32_t table_records;	      /* core/tables.c: written by this thread */
	struct tprof_chunk *tables;   /* the chunk that it keeps for them; NULL: none, or it is being written to */
	struct tpc_range own;	      /* the thread's own stack */
	struct tpc_thread *next;      /* of all ever made */
	struct tpc_caller callers[TPC_CALLERS] __attribute__((aligned(64)));
	uint64_t addresses[256];
	uint32_t stacks[256];
	uint32_t ops_log[TPC_PREDICTOR_LOG];
	char scratch[4096]; /* for paths: the user's stack may be small */
	/* For open ops that are not hooked calls, outermost first: how many hooked ops were open when each began. */
	uint16_t annotated[TPC_ANNOTATED_MAX];
	uint32_t instrumented_depth; /* open functions of hooks/ops/told/instrument.c */
	struct tpc_instrumented instrumented[TPC_INSTRUMENTED_MAX];
	uint8_t rules[TPC_RULES_BYTES] __attribute__((aligned(64))); /* of stacks/lately.c */
	uint8_t walk[TPC_WALK_BYTES] __attribute__((aligned(64)));
	uint8_t waits[TPC_WAITS_BYTES] __attribute__((aligned(64)));   /* of hooks/ops/presets/mpi_requests.c */
	uint8_t python[TPC_PYTHON_BYTES] __attribute__((aligned(64))); /* of hooks/python/stack.c */
};

extern TPC_TLS struct tpc_thread *tpc_self; /* NULL before the thread's first event */
extern tpc_shared_bool tpc_thread_several;  /* more than one has recorded */

/*
 * The thread is about to record its first allocation or free, and has not made the free yet: from now on its stamps
 * must be ordered with those of other threads. Threads that do neither (workers of a pool, which wait and compute)
 * leave the faster clock to the others.
 */
TPC_SLOW void tpc_thread_allocates(struct tpc_thread *thread);

/*
 * The shortest path through a hook is for a thread that has been there before, on its own stack, whose end is known, in
 * a process where every allocation is recorded and the clock is the time stamp counter. Where not every allocation is
 * recorded, the others are passed by, provided that the allocator itself calls none of the hooked functions
 * (tpc_thread_may_pass).
 */
extern bool tpc_thread_may_pass; /* set once, at start */
void tpc_thread_set_bounds(struct tpc_thread *thread, struct tpc_range bounds);

/* A dead thread's struct, or a new one, for the thread with that number. NULL: no memory. */
struct tpc_thread *tpc_thread_take(uint32_t tid);

/* In a forked child: keeps the struct of its only thread; NULL: that has none. */
void tpc_threads_keep(struct tpc_thread *survivor);

/* Calls `visit` for every struct that was ever allocated. */
void tpc_threads_each(void (*visit)(struct tpc_thread *thread));

static inline bool tpc_thread_on_stack(const struct tpc_thread *thread, uintptr_t frame)
{
	return tpc_range_holds(thread->bounds, frame);
}

#endif
