/* SPDX-License-Identifier: Apache-2.0 */
/* A machine, and the places of ops under its roofs: as tables, as JSON, as a picture. */
#ifndef TPROF_REPORT_TEXT_ROOF_LISTING_H
#define TPROF_REPORT_TEXT_ROOF_LISTING_H

#include <jansson.h>

#include "machine/roofline.h"
#include "report/text/text.h"

void tp_machine_print(const struct tp_page *page, const struct tp_machine *machine);

/* The first `top` places (0: all); `count` of them there are. */
void tp_roof_print(const struct tp_page *page, const struct tp_roof_place *places, size_t count, uint64_t top);

/* How much of what so many cores could compute the steps did; nothing if there are no steps or no FLOP in them. */
void tp_utilisation_print(const struct tp_page *page, const struct tp_machine *machine,
			  const struct tp_process *process);

/* null if it is not known. */
json_t *tp_utilisation_json(const struct tp_machine *machine, const struct tp_process *process);

json_t *tp_machine_rates_json(const struct tp_machine *machine);
json_t *tp_roof_json(const struct tp_roof_place *places, size_t count, uint64_t top);

/*
 * A word on an op, for tables that have a column for it: "compute-bound, 37% of its roof", or that no roof explains its time; NULL: it does not say what it
 * does. The context is a struct tp_roof_notes; the text is valid until the next call.
 */
struct tp_roof_notes {
	const struct tp_machine *machine;
	uint32_t cores;
	char text[240];
};
const char *tp_roof_note(void *context, const struct tp_op_stats *op);
/* The same as JSON, with all numbers; null. */
json_t *tp_roof_place_json(void *context, const struct tp_op_stats *op);

/* A stand-alone SVG: GFLOP/s over FLOP a byte, both logarithmic; a circle for each op that has both, by its time. */
void tp_roof_svg(const struct tp_machine *machine, uint32_t cores, const struct tp_roof_place *places, size_t count,
		 const char *title, FILE *out);

/* The same as a part of a page. */
void tp_roof_svg_embed(const struct tp_machine *machine, uint32_t cores, const struct tp_roof_place *places,
		       size_t count, const char *title, FILE *out);

#endif
