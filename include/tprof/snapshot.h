/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process that searches for pointers needs to know about a fork that does not run (header.snapshot_pid), and can't find
 * out otherwise. It is no part of the file: it is in the fork's memory at header.snapshot_at.
 */
#ifndef TPROF_SNAPSHOT_H
#define TPROF_SNAPSHOT_H

#include <stdint.h>

#define TPROF_SNAPSHOT_RANGES 1024u
struct tprof_range {
	uint64_t low, high; /* addresses; high is one past the last */
};
#define TPROF_KEPT 6u /* call-preserved registers: rbx rbp r12 r13 r14 r15 */
#define TPROF_IN_HAND 8u
struct tprof_registers {
	uint64_t pc, sp, kept[TPROF_KEPT];
};
/* Where an interpreter of CPython keeps its objects: offsets in bytes, as its version has them; 0: not known */
struct tprof_python {
	uint64_t runtime;   /* the address of _PyRuntime; 0: there is no interpreter that is known */
	uint64_t type_type; /* and of PyType_Type */
	uint32_t version;   /* 0x030b: 3.11 */
	uint16_t runtime_interpreters;
	uint16_t interpreter_next, interpreter_threads, interpreter_modules;
	uint16_t thread_next, thread_dict, thread_frame;
	uint16_t cframe; /* as in the collector's table: of 3.11 and 3.12, + 1 */
	uint16_t frame_previous, frame_code, frame_locals;
	uint16_t
		code_names; /* up to 3.10 the tuples varnames, freevars, cellvars; then localsplusnames, localspluskinds */
	uint16_t code_name;  /* the qualified one, where there is one */
	uint16_t code_start; /* the instructions; 0: they are not in the code object */
	uint16_t tuple_items;
	uint16_t str_ascii, str_other;
};

struct tprof_snapshot {
	uint32_t stack_count, own_count;
	/* The threads' stacks; [0] is that of the thread that forked */
	struct tprof_range stacks[TPROF_SNAPSHOT_RANGES];
	/* The collector's own memory, which is not part of the program */
	struct tprof_range own[TPROF_SNAPSHOT_RANGES];
	uint64_t kept_count;
	/* Registers of waiting threads: header.snapshot_known */
	uint64_t kept[TPROF_SNAPSHOT_RANGES][TPROF_KEPT];

	/* The thread that forked was in the collector's code, called by the program: */
	struct tprof_registers at;
	/* Code whose unwind tables lead from `at` to where the program called it, */
	struct tprof_range code;
	/* Or, if a signal interrupted the program, the address of the ucontext_t there; 0: no signal */
	uint64_t context;
	struct tprof_range alternate; /* the thread's signal stack, as the program set it */
	uint64_t in_hand_count;
	/* Values of the program: arguments of that call, or its result */
	uint64_t in_hand[TPROF_IN_HAND];
	/* A block whose free is already recorded, and that is about to be reallocated */
	struct tprof_range moving;

	/* Stack pointers of the threads of `stacks`, if header.snapshot_still has the bit; 0: unknown */
	uint64_t used[TPROF_SNAPSHOT_RANGES];
	/* The thread that forked: its descriptor in glibc, and its kernel thread id */
	uint64_t self, tid;
	/* The module that called the collector, if exit() called it; else empty */
	struct tprof_range exiting;
	struct tprof_python python;
};

#endif
