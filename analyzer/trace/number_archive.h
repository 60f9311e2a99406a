/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of stack nodes and ops in a saved replay. The file's own numbers are saved, because another reading of the file makes nodes
 * in another order, and may number unnamed ops differently. For a stack that depends on time (trace/jit.h) a time is saved with it.
 */
#ifndef TPROF_TRACE_NUMBER_ARCHIVE_H
#define TPROF_TRACE_NUMBER_ARCHIVE_H

#include "base/archive.h"
#include "trace/trace.h"

/* What archive->user points to while a replay is saved or loaded. */
struct tpa_archive_numbers {
	struct tpa_trace *trace;
	const uint32_t *same; /* struct tpa_ops: of an op number the one that stands for it */
	uint32_t op_count;    /* struct tpa_ops: count */
};

void tpa_archive_numbers_begin(struct tpa_archive_numbers *numbers, struct tpa_archive *archive,
			       struct tpa_trace *trace, const uint32_t *same, uint32_t op_count);

/* A node of the trace. */
void tpa_archive_node(struct tpa_archive *archive, uint32_t *node);

/* An op's number as tpa_op_of() gives it; 0: none. */
void tpa_archive_op(struct tpa_archive *archive, uint32_t *op);

#endif
