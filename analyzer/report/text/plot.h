/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over time, drawn with characters.
 */
#ifndef TPROF_REPORT_TEXT_PLOT_H
#define TPROF_REPORT_TEXT_PLOT_H

#include "model/result/result.h"
#include "report/text/text.h"

/*
 * Live bytes as an area, RSS as dots above it where it was sampled. `from_ns`, `to_ns`: the span of the x axis. Braille
 * where the locale can show it, ASCII elsewhere. `rows`: height in lines.
 */
void tpa_plot(const struct tpa_page *page, const struct tpa_point *points, size_t count, uint64_t from_ns,
	      uint64_t to_ns, int rows);

#endif
