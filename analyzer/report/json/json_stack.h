/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as JSON. */
#ifndef TPROF_REPORT_JSON_JSON_STACK_H
#define TPROF_REPORT_JSON_JSON_STACK_H

#include <jansson.h>

#include "base/pairs.h"
#include "report/rows/stack.h"

/*
 * Cache of frames; zeroed: empty. Stacks share a frame's value: a large program's stacks have tens of millions of
 * frames, but only some ten thousand places.
 */
struct tpa_json_frames {
	struct tpa_pairs numbers; /* (location, address) to index */
	json_t **list;		  /* owned references */
	size_t count, room;
};

void tpa_json_frames_free(struct tpa_json_frames *frames);

/* A frame, as a new reference. */
json_t *tpa_json_frame(const struct tpa_line *line);

/*
 * All frames of a stack, innermost first, as a new reference. *own is the index of the frame that tpa_stack_own()
 * names, or -1. Stacks made with `frames` must not be changed, as they share frames (NULL: they share none).
 */
json_t *tpa_json_stack(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node,
		       struct tpa_json_frames *frames, json_int_t *own);

#endif
