/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each kind of event is called and which fields it has: name, type, unit, and where they stand in struct tp_event or in
 * its payload. `dump --json` prints by this table; tests hold it against the man page and the second reader.
 */
#ifndef TPROF_TRACE_FIELDS_H
#define TPROF_TRACE_FIELDS_H

#include <stddef.h>

#include "trace/events.h"

enum tp_field_type {
	TP_FIELD_NUMBER,
	TP_FIELD_ADDRESS,
	TP_FIELD_FLAG,
	TP_FIELD_FUNCTION, /* enum tprof_fn */
	TP_FIELD_LOG2,	   /* of the number */
	TP_FIELD_TEXT,	   /* struct tp_event_text */
	TP_FIELD_FILE,	   /* number in tp_trace.files */
	TP_FIELD_OP,	   /* number in tp_trace.ops */
};

struct tp_field {
	const char *name; /* as in JSON; NULL: the list ends */
	const char *unit; /* NULL: it has none */
	uint8_t type;	  /* enum tp_field_type */
	uint8_t size;	  /* bytes */
	uint16_t offset;  /* in struct tp_event, or in the payload */
	uint16_t needs;	  /* offset of a bool that says whether the field is there, + 1; 0: always */
};

#define TP_FIELDS_MOST 10u

struct tp_event_row {
	const char *name;
	struct tp_field fields[TP_FIELDS_MOST];
	uint16_t payload; /* offset in struct tp_event of the pointer to the payload, which has the fields */
	struct tp_field inside[TP_FIELDS_MOST];
};

extern const struct tp_event_row tp_event_rows[TP_EVENT_KINDS];

/* NULL: the event's kind has no payload, or it is malformed. */
static inline const void *tp_event_payload(const struct tp_event *event)
{
	uint16_t offset = tp_event_rows[event->kind].payload;

	return offset ? *(const void *const *)(const void *)((const char *)event + offset) : NULL;
}

/* Of a field that is a number; `base`: the event or its payload. */
uint64_t tp_field_value(const struct tp_field *field, const void *base);

static inline bool tp_field_is_there(const struct tp_field *field, const void *base)
{
	return !field->needs || *((const bool *)base + field->needs - 1);
}

#endif
