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
#define TPC_RULES_BYTES 768u
#define TPC_WALK_HEAD 64u /* zeroed when the thread changes: an empty walk */

#define TPC_ANNOTATED_MAX 256u	   /* hooks/ops/told/annotate.c: of deeper ones less is known */
#define TPC_INSTRUMENTED_MAX 1024u /* hooks/ops/told/instrument.c: deeper ones are counted as lost */
#define TPC_OPS_MAX 256u	   /* nested ops of one thread; what is deeper is called and counted as lost */

enum tpc_busy {
	TPC_IDLE = 0,
	TPC_BUSY_REAL,	 /* in the real function: what it calls is part of this event */
	TPC_BUSY_RECORD, /* recording: only a signal handler can come by, and its event is lost */
};

/* What is kept of a hooked op while it is open. A cache line each. */
struct tpc_open_op {
	uint64_t start, events; /* ticks at its begin; the thread's events just after it */
	uint64_t shape;		/* for its slot */
	struct tpc_fold_slot *slot;
	uintptr_t frame;
	uint64_t scope;	    /* fold.scope of what is around it */
	uintptr_t outer;    /* and fold.outer */
	const void *ending; /* hooks/ops/call.c's: of what function its end calls for more than its event; NULL: none */
} __attribute__((aligned(64)));

/* What is known of the place of a call, for hooks/ops/window.h: a thread's calls come from a few hundred. */
struct tpc_caller {
	uintptr_t pc;	/* the return address; 0: none */
	uint32_t epoch; /* tpc_frames_epoch up to which the code there is what it was */
	int32_t rule; /* where the caller's frame ends: the offset of its struct tpc_rule, a multiple of 8, and the kind */
};

/* What is kept of a function that said that it begins, while it is open. */
struct tpc_instrumented {
	uintptr_t frame;  /* where its caller's stack ended; or the stack pointer, if that can't be told */
	uintptr_t caller; /* its return address */
	uintptr_t begin;  /* behind the instruction that said so */
	uint32_t op;
	uint16_t hooked; /* hooked ops that were open then */
	bool known;	 /* the return address stands just below `frame` */
};

#define TPC_CALLERS 512u    /* a power of two */
#define TPC_CALLERS_WAYS 4u /* each has a choice of that many places, in one cache line */

/* What the thread's registers held when it called a function that may wait (hooks/leakcheck/). A cache line. */
struct tpc_wait {
	uint64_t sp, caller;	   /* its stack pointer, and the return address there; 0: it has called none yet */
	uint64_t kept[TPROF_KEPT]; /* the registers that calls keep: rbx rbp r12 r13 r14 r15 */
} __attribute__((aligned(64)));

struct tpc_thread {
	uint8_t handler_stack[TPC_HANDLER_STACK_END]
		__attribute__((aligned(64))); /* that the CPU sampler's handler runs on */

	/* The hot path's: what every event asks is in the first two cache lines, and ops look at the third. */
	uint8_t *at;	/* where the next record goes */
	uint8_t *limit; /* beyond it the chunk has no room for one */
	struct tprof_chunk *chunk;
	uint64_t time;	  /* of the last record, shifted ticks */
	uint64_t address; /* coding state, see format.h */
	uint32_t stack, delta;
	uint32_t busy; /* enum tpc_busy */
	uint32_t number;
	uintptr_t busy_frame;	 /* the hook's frame: a caller above it means that frame is gone (longjmp) */
	uintptr_t busy_return;	 /* and the return address in it */
	struct tpc_range bounds; /* of the stack that the thread is on; tpc_thread_set_bounds() */
	uint64_t hot_extent;	 /* bytes of bounds, where hooks may take their shortest way; else 0 */
	uint64_t events;
	uint64_t last_block;	  /* address of the last ALLOC */
	uint64_t extent;	  /* bytes of bounds */
	struct tpc_timed timed;	  /* which of the events; what is asked of it is the second line's last */
	uint64_t pass_extent;	  /* as hot_extent, where allocations that are not recorded may be passed by; else 0 */
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
	bool named;				 /* by a name that the kernel does not know; in this trace */
	bool allocates;				 /* or frees: tpc_thread_allocates() heard of it */
	bool signal_blocked;			 /* as far as the program knows, the sampler's signal is blocked here */
	bool vfork_child_blocked;		 /* and in this thread's vfork child, which has the parent's memory */
	uint32_t vfork_child;			 /* pid of the one that has changed its mask; 0: none */
	tpc_shared_u32 timer;			 /* of the CPU sampler: the kernel's id + 1; 0: none */
	uint32_t chunks;			 /* that it began, until tpc_space_gather() */
	uint32_t table_records;			 /* core/tables.c: written by this thread */
	struct tprof_chunk *tables; /* and the chunk that it keeps for them; NULL: none, or it writes to it */
	struct tpc_range own;	    /* the thread's own stack */
	struct tpc_thread *next;    /* of all ever made */
	struct tpc_caller callers[TPC_CALLERS] __attribute__((aligned(64)));
	uint64_t addresses[256];
	uint32_t stacks[256];
	uint32_t ops_log[TPC_PREDICTOR_LOG];
	char scratch[4096]; /* for paths: the user's stack may be small */
	/* Of ops that are no hooked calls, outermost first: hooked ones that were open as each of them began. */
	uint16_t annotated[TPC_ANNOTATED_MAX];
	uint32_t instrumented_depth; /* open functions of hooks/ops/told/instrument.c */
	struct tpc_instrumented instrumented[TPC_INSTRUMENTED_MAX];
	uint8_t rules[TPC_RULES_BYTES] __attribute__((aligned(64))); /* of stacks/lately.c */
	uint8_t walk[TPC_WALK_BYTES] __attribute__((aligned(64)));
	uint8_t python[TPC_PYTHON_BYTES] __attribute__((aligned(64))); /* of hooks/python/stack.c */
};

extern TPC_TLS struct tpc_thread *tpc_self; /* NULL before the thread's first event */
extern tpc_shared_bool tpc_thread_several;  /* more than one has recorded */

/*
 * The thread's first allocation or free is about to be recorded, the free not yet made: from now on its stamps are held against
 * others'. Threads that do neither (a pool's, which wait and compute) leave those that do their faster clock.
 */
TPC_SLOW void tpc_thread_allocates(struct tpc_thread *thread);

/*
 * The shortest way through a hook is for a thread that has been there before, on its own stack, whose end is known, in a process
 * where each allocation is recorded and the clock is the processor's counter. Where not each is recorded, the others are passed by,
 * provided that the allocator calls none of the hooked functions itself (tpc_thread_may_pass).
 */
extern bool tpc_thread_may_pass; /* set once, at start */
void tpc_thread_set_bounds(struct tpc_thread *thread, struct tpc_range bounds);

/* The struct of a thread that is dead, or a new one, for the thread of that number. NULL: no memory. */
struct tpc_thread *tpc_thread_take(uint32_t tid);

/* In a forked child: there is one thread at most, and NULL means none. */
void tpc_threads_keep(struct tpc_thread *survivor);

/* Calls `visit` for every struct that was ever made. */
void tpc_threads_each(void (*visit)(struct tpc_thread *thread));

static inline bool tpc_thread_on_stack(const struct tpc_thread *thread, uintptr_t frame)
{
	return tpc_range_holds(thread->bounds, frame);
}

#endif
