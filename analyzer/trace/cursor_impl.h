/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the cursor, for each other: cursor.c goes from record to record, cursor_long.c knows the types with a length. */
#ifndef TPROF_TRACE_CURSOR_IMPL_H
#define TPROF_TRACE_CURSOR_IMPL_H

#include "trace/cursor.h"

/* Nothing was coded yet: at a chunk's begin, and where another thread takes it over. */
void tpa_cursor_reset(struct tpa_cursor *cursor);

/* Thread numbers are indices of whoever counts by thread: one that is out of range is 0, and damage at `offset`. */
uint32_t tpa_cursor_thread(struct tpa_cursor *cursor, uint64_t thread, uint64_t offset);

/* The fields of a record of that type, from *at on, that ends at `end`. False: the type is unknown. */
bool tpa_cursor_fields(struct tpa_cursor *cursor, struct tpa_event *event, unsigned type, const uint8_t **at,
		       const uint8_t *end);

/* Whether the record at `at` takes back the one before it. */
static inline bool tpa_cursor_cancels(const struct tpa_cursor *cursor, const uint8_t *at)
{
	return at < cursor->end && *at == TPROF_EVENT_CANCEL << 2;
}

#endif
