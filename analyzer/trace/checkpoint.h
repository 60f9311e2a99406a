/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoint of a ring that is read: the saved state of a replay of all events that are no longer in the file. */
#ifndef TPROF_TRACE_CHECKPOINT_H
#define TPROF_TRACE_CHECKPOINT_H

#include "trace/trace.h"

/* Facts about it; NULL: the trace has none, and all events are in the file unless they were dropped. */
const struct tprof_checkpoint *tpa_trace_checkpoint(const struct tpa_trace *trace);

/* Bytes that the file of a ring may have: fewer than it was told if its disk was full, or RLIMIT_FSIZE was reached. */
uint64_t tpa_trace_ring_room(const struct tpa_trace *trace);

/*
 * Its bytes, which the caller frees; *size is their number. NULL: there is none, or a part of it is missing, which is added to the
 * trace's damage.
 */
uint8_t *tpa_checkpoint_read(struct tpa_trace *trace, size_t *size);

#endif
