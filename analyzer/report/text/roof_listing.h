/* SPDX-License-Identifier: Apache-2.0 */
/* A machine, and the places of ops under its roofs, as tables. */
#ifndef TPROF_REPORT_TEXT_ROOF_LISTING_H
#define TPROF_REPORT_TEXT_ROOF_LISTING_H

#include "machine/roofline.h"
#include "report/text/text.h"

void tpa_machine_print(const struct tpa_page *page, const struct tpa_machine *machine);

/* Prints the first `top` (0: all) of `count` places. */
void tpa_roof_print(const struct tpa_page *page, const struct tpa_roof_place *places, size_t count, uint64_t top);

/* Prints the steps' share of what this many cores can compute; nothing if there are no steps or no FLOP in them. */
void tpa_utilisation_print(const struct tpa_page *page, const struct tpa_machine *machine,
			   const struct tpa_process *process);

/*
 * A note on an op for a table's column: "compute-bound, 37% of its roof", or that no roof explains its time; NULL if
 * its work is unknown. The context is a struct tpa_roof_notes.
 */
const char *tpa_roof_note(void *context, const struct tpa_op_stats *op);
#endif
