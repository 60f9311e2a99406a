/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each part of the collector does when recording starts, when the process forks, when a thread attaches, when
 * recording pauses and resumes, and when the process ends. A field is NULL if the part does nothing then.
 */
#ifndef TPROF_PROCESS_PARTS_H
#define TPROF_PROCESS_PARTS_H

#include "core/thread.h"

struct tpc_lifecycle_part {
	const char *name;
	/* Once, from the library's constructor: all objects are relocated, and allocations have been recorded for a while. */
	void (*start)(void);
	/* In a forked child: drops what belongs to the parent's trace. The only thread is this one; there is no trace yet. */
	void (*forget)(void);
	/* The trace of this process was created: writes what is known already. */
	void (*open)(void);
	/* In a forked child that records: repeats what `start` did for the parent. */
	void (*restart)(void);
	/* A thread has attached. It is busy. */
	void (*attach)(struct tpc_thread *thread);
	/* A pause is about to begin; one thread at a time. */
	void (*pause)(void);
	/* A pause has ended. The thread is in no hook; `frame` is the exported function's. */
	void (*resume)(const void *frame);
	/* The process ends: writes what was held back, before the header is marked. */
	void (*end)(void);
};

#define TPC_PARTS 32u
extern const struct tpc_lifecycle_part tpc_parts[TPC_PARTS] TPC_NEAR;

/* Calls that function of every part that has one, in the order of the table. */
#define tpc_parts_each(function, ...)                                                                                  \
	do {                                                                                                           \
		for (size_t i_part = 0; i_part < TPC_PARTS; i_part++)                                                  \
			if (tpc_parts[i_part].function)                                                                \
				tpc_parts[i_part].function(__VA_ARGS__);                                               \
	} while (0)

#endif
