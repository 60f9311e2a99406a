/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel counts of the process: page faults, switches, CPU time. Recorded where a step ends and each 10 ms, beside
 * the samples of memory, so that a step that took long can be told from the others. Two system calls, half a microsecond.
 */
#ifndef TPROF_CORE_USAGE_H
#define TPROF_CORE_USAGE_H

#include "core/base.h"

struct tp_thread;

/*
 * A USAGE record, if the last one is older than some microseconds: of shorter steps some have none. Returns the time now, by
 * which the step ends: the reader sees what this took.
 */
TP_SLOW uint64_t tp_usage_emit(struct tp_thread *thread, uint64_t ticks);

#endif
