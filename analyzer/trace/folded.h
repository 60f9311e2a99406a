/* SPDX-License-Identifier: Apache-2.0 */
/* FOLD records that are read a second time: calls are added to them until their chunk ends. */
#ifndef TPROF_TRACE_FOLDED_H
#define TPROF_TRACE_FOLDED_H

#include "trace/payload.h"
#include "trace/trace.h"

/* The record at that offset of the file, as it is now. False: there is none, or it is damaged. */
bool tpa_folded_read(const struct tpa_trace *trace, uint64_t offset, struct tpa_folded *folded);

/*
 * What was added between two readings of a record. Of the shortest and the longest of these calls the bucket is known, and the
 * duration if it is a new extreme. False: nothing, or the later reading lacks what the earlier one has.
 */
bool tpa_folded_added(const struct tpa_folded *before, const struct tpa_folded *now, struct tpa_folded *added);

#endif
