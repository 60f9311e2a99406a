/* SPDX-License-Identifier: Apache-2.0 */
/* A machine, and the places of ops under its roofs, as tables. */
#ifndef TPROF_REPORT_TEXT_ROOF_LISTING_H
#define TPROF_REPORT_TEXT_ROOF_LISTING_H

#include "machine/roofline.h"
#include "report/text/text.h"

void tpa_machine_print(const struct tpa_page *page, const struct tpa_machine *machine);

/* The first `top` places (0: all); `count` of them there are. */
void tpa_roof_print(const struct tpa_page *page, const struct tpa_roof_place *places, size_t count, uint64_t top);

/* How much of what so many cores could compute the steps did; nothing if there are no steps or no FLOP in them. */
void tpa_utilisation_print(const struct tpa_page *page, const struct tpa_machine *machine,
			   const struct tpa_process *process);

/*
 * A word on an op, for tables that have a column for it: "compute-bound, 37% of its roof", or that no roof explains its time;
 * NULL: it does not say what it does. The context is a struct tpa_roof_notes.
 */
const char *tpa_roof_note(void *context, const struct tpa_op_stats *op);
#endif
