/* SPDX-License-Identifier: Apache-2.0 */
/* What cursor.c, which goes from record to record, and cursor_long.c, which decodes records with a length, share. */
#ifndef TPROF_TRACE_CURSOR_IMPL_H
#define TPROF_TRACE_CURSOR_IMPL_H

#include "trace/cursor.h"

/* Resets the state of the coding: at a chunk's begin, and where another thread takes the chunk over. */
void tpa_cursor_reset(struct tpa_cursor *cursor);

/* Readers use thread numbers as indexes: a number that is out of range becomes 0 and is noted as damage at `offset`. */
uint32_t tpa_cursor_thread(struct tpa_cursor *cursor, uint64_t thread, uint64_t offset);

/* Decodes the fields of a record of that type, from *at to `end`. False: the type is unknown. */
bool tpa_cursor_fields(struct tpa_cursor *cursor, struct tpa_event *event, unsigned type, const uint8_t **at,
		       const uint8_t *end);

/* Whether the record at `at` is a CANCEL. */
static inline bool tpa_cursor_cancels(const struct tpa_cursor *cursor, const uint8_t *at)
{
	return at < cursor->end && *at == TPROF_EVENT_CANCEL << 2;
}

#endif
