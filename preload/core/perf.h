/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance counters of the calling thread, by perf_event_open(2): hardware ones in one group, the kernel's own
 * (software) ones in another, so that these count even while the hardware is lent to somebody else. Names are those of
 * perf(1); events that have none are given as rHEX, the number of the processor's own.
 *
 * Descriptors lie high, where they disturb nobody. The program may close them all the same (closefrom), and the number may
 * be another file's then: before each read the kernel is asked whether it still is our event.
 */
#ifndef TPROF_CORE_PERF_H
#define TPROF_CORE_PERF_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_COUNTERS_MAX TPROF_COUNTERS_MAX

struct perf_event_mmap_page;

struct tpc_perf_event {
	uint32_t type; /* of struct perf_event_attr */
	bool user_only;
	uint64_t config;
	char name[32];
};

enum tpc_perf_kind { TPC_PERF_HARDWARE, TPC_PERF_SOFTWARE, TPC_PERF_KINDS };

/* What one thread has open. All zeros: nothing. */
struct tpc_perf {
	uint32_t count;		  /* events; 0: nothing is open */
	bool mapped;		  /* hardware events can be read without a system call */
	int fd[TPC_COUNTERS_MAX]; /* in the order of the events */
	uint64_t id[TPC_COUNTERS_MAX];
	struct perf_event_mmap_page *page[TPC_COUNTERS_MAX];
};

struct tpc_perf_values {
	uint64_t value[TPC_COUNTERS_MAX];
	uint64_t idle_ns; /* for which the thread ran, but its hardware events did not */
};

/* Events that are to be counted. */
struct tpc_perf_wanted {
	uint32_t count;
	struct tpc_perf_event events[TPC_COUNTERS_MAX];
};

/* The events of a comma list. False, and none is wanted: it has a name that is not known, or too many. */
bool tpc_perf_events(const char *list, struct tpc_perf_wanted *wanted);

/* Can this thread count it? 0, or a positive errno. Sets event->user_only where the kernel's part is not allowed. */
int tpc_perf_try(struct tpc_perf_event *event);

/* Opens all of them for the calling thread. False: it could not be done; nothing is open then. */
bool tpc_perf_open(struct tpc_perf *perf, const struct tpc_perf_event *events, uint32_t count);

/* False: they can't be read any more. No system call where the processor lets programs read (rdpmc), else two a kind. */
bool tpc_perf_read(const struct tpc_perf *perf, const struct tpc_perf_event *events, struct tpc_perf_values *values);

/* From any thread, once nobody reads. */
void tpc_perf_close(struct tpc_perf *perf);

#endif
