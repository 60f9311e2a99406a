/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline as a chart. */
#ifndef TPROF_REPORT_EXPORT_ROOF_SVG_H
#define TPROF_REPORT_EXPORT_ROOF_SVG_H

#include <stdio.h>

#include "machine/roofline.h"

/*
 * Writes a stand-alone SVG: GFLOP/s over FLOP per byte, both logarithmic; a circle for each op that has both, sized by
 * its time.
 */
void tpa_roof_svg(const struct tpa_machine *machine, uint32_t cores, const struct tpa_roof_place *places, size_t count,
		  const char *title, FILE *out);

/* The same as a part of a page. */
void tpa_roof_svg_embed(const struct tpa_machine *machine, uint32_t cores, const struct tpa_roof_place *places,
			size_t count, const char *title, FILE *out);

#endif
