/* SPDX-License-Identifier: Apache-2.0 */
/* What performance counters rose by. */
#ifndef TPROF_MODEL_SAMPLES_COUNTERS_H
#define TPROF_MODEL_SAMPLES_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

struct tp_counters {
	uint64_t value[TPROF_COUNTERS_MAX]; /* by the counter's number - 1 */
	uint64_t idle_ns;		    /* for which the thread ran, but its hardware counters did not */
};

/* The increases of a COUNTERS record; those that are missing are 0. */
void tp_counters_decode(struct tp_counters *counters, uint64_t idle_ns, const char *increases, size_t length);

void tp_counters_add(struct tp_counters *to, const struct tp_counters *from);

#endif
