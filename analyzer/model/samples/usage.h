/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counted of the process, as the latest USAGE record says: ever growing. */
#ifndef TPROF_MODEL_SAMPLES_USAGE_H
#define TPROF_MODEL_SAMPLES_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_usage {
	uint64_t minor_faults, major_faults;
	uint64_t waits, preemptions; /* switches away from a thread that waited, and from one that did not want to */
	uint64_t cpu_ns;	     /* of all threads */
	uint64_t own_cpu_ns;	     /* of the threads that wrote the records, as far as two of one thread tell */
};

/* What stands behind a USAGE record's dtime; own_cpu_ns is of the thread that wrote it. False: it is not whole. */
bool tp_usage_read(struct tp_usage *usage, const char *bytes, size_t length);

/* Modulo 2^64, field by field. */
struct tp_usage tp_usage_less(const struct tp_usage *usage, const struct tp_usage *before);
void tp_usage_add(struct tp_usage *to, const struct tp_usage *from);

#endif
