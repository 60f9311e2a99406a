/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an open trace as a compact one: see compact/compact.h. */
#ifndef TPROF_TRACE_COMPACT_TRACE_H
#define TPROF_TRACE_COMPACT_TRACE_H

#include <stdio.h>

#include "compact/compact.h"
#include "trace/trace.h"

/*
 * `names`: what symbols/embedded.h makes of the trace; NULL: none. `edit`: changes texts; NULL: none. False: *error (a heap
 * string) says why the file could not be written.
 */
bool tpa_trace_compact(const struct tpa_trace *trace, FILE *file, const uint8_t *names, size_t length,
		       const struct tpa_compact_edit *edit, char **error);

/* The names in a compact trace, owned by it. NULL: the trace has none, or is not compact. */
const uint8_t *tpa_trace_embedded(const struct tpa_trace *trace, size_t *length);

#endif
