/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_REPORT_EXPORT_FLAME_H
#define TPROF_REPORT_EXPORT_FLAME_H

#include <stdio.h>

#include "report/rows/tree.h"

/*
 * Writes the tree as a stand-alone SVG. `title` is its headline; `unit` names the blocks ("live blocks"). `time`: the
 * bytes are nanoseconds. Leaves a gap for nodes narrower than a tenth of a pixel.
 */
void tpa_flame_write(const struct tpa_tree *tree, const char *title, const char *unit, bool time, FILE *out);

#endif
