/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of each kind of event and its fields: name, type, unit, and place in struct tpa_event or in its payload. `dump`
 * prints by this table; tests compare it with the man page and with the decoded events.
 */
#ifndef TPROF_TRACE_FIELDS_H
#define TPROF_TRACE_FIELDS_H

#include <stddef.h>

#include "trace/events.h"

enum tpa_field_type {
	TPA_FIELD_NUMBER,
	TPA_FIELD_ADDRESS,
	TPA_FIELD_FLAG,
	TPA_FIELD_FUNCTION, /* enum tprof_fn */
	TPA_FIELD_LOG2,	    /* of the number */
	TPA_FIELD_TEXT,	    /* struct tpa_event_text */
	TPA_FIELD_FILE,	    /* number in tpa_trace.files */
	TPA_FIELD_OP,	    /* number in tpa_trace.ops */
	TPA_FIELD_MEAN,	    /* MEAN, see events.h */
	TPA_FIELD_RANK,	    /* int32_t: may be negative */
	TPA_FIELD_COMM,	    /* enum tprof_comm */
};

struct tpa_field {
	const char *name; /* as in JSON; NULL: the list ends */
	const char *unit; /* NULL: it has none */
	uint8_t type;	  /* enum tpa_field_type */
	uint8_t size;	  /* bytes */
	uint16_t offset;  /* in struct tpa_event, or in the payload */
	uint16_t needs;	  /* offset of a bool that says whether the field is there, + 1; 0: always */
};

#define TPA_FIELDS_MOST 12u

struct tpa_event_row {
	const char *name;
	struct tpa_field fields[TPA_FIELDS_MOST];
	uint16_t payload; /* offset in struct tpa_event of the pointer to the payload, which has the fields */
	struct tpa_field inside[TPA_FIELDS_MOST];
};

extern const struct tpa_event_row tpa_event_rows[TPA_EVENT_KINDS];

/* NULL: the event's kind has no payload, or it is malformed. */
static inline const void *tpa_event_payload(const struct tpa_event *event)
{
	uint16_t offset = tpa_event_rows[event->kind].payload;

	return offset ? *(const void *const *)(const void *)((const char *)event + offset) : NULL;
}

/* Of a field that is a number; `base`: the event or its payload. */
uint64_t tpa_field_value(const struct tpa_field *field, const void *base);

static inline bool tpa_field_is_there(const struct tpa_field *field, const void *base)
{
	return !field->needs || *((const bool *)base + field->needs - 1);
}

#endif
