/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance counters of the calling thread, by perf_event_open(2). Hardware events are one group, the kernel's own
 * (software) events another, so that these count even while the hardware counters are used by others. Names are those
 * of perf(1); events without a name are given as rHEX, the processor's number of the event.
 *
 * Descriptors have high numbers, where they disturb no program. The program may close them all the same (closefrom),
 * and the number may then belong to another file: before each read the kernel is asked whether it still is our event.
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

/* The open counters of one thread. All zeros: none. */
struct tpc_perf {
	uint32_t count;		  /* events; 0: nothing is open */
	bool mapped;		  /* hardware events can be read without a system call */
	int fd[TPC_COUNTERS_MAX]; /* in the order of the events */
	uint64_t id[TPC_COUNTERS_MAX];
	struct perf_event_mmap_page *page[TPC_COUNTERS_MAX];
};

struct tpc_perf_values {
	uint64_t value[TPC_COUNTERS_MAX];
	uint64_t idle_ns; /* time for which the thread ran and its hardware events did not count */
};

/* The events to count. */
struct tpc_perf_wanted {
	uint32_t count;
	struct tpc_perf_event events[TPC_COUNTERS_MAX];
};

/* Parses a comma-separated list of events. False, and no event is wanted: a name is unknown, or there are too many. */
bool tpc_perf_events(const char *list, struct tpc_perf_wanted *wanted);

/* Can this thread count the event? 0, or a positive errno. Sets event->user_only if counting in the kernel is forbidden. */
int tpc_perf_try(struct tpc_perf_event *event);

/* Opens all events for the calling thread. False: that failed, and nothing is open. */
bool tpc_perf_open(struct tpc_perf *perf, const struct tpc_perf_event *events, uint32_t count);

/*
 * False: they can no longer be read. Makes no system call where programs may read counters (rdpmc), else two for each
 * group.
 */
bool tpc_perf_read(const struct tpc_perf *perf, const struct tpc_perf_event *events, struct tpc_perf_values *values);

/* Any thread, once no thread reads them. */
void tpc_perf_close(struct tpc_perf *perf);

#endif
