/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_REPORT_EXPORT_FOLDED_H
#define TPROF_REPORT_EXPORT_FOLDED_H

#include <stdio.h>

#include "report/rows/tree.h"

/* Writes one line per stack: function;function;function bytes (CPU time: nanoseconds), outermost first. */
void tpa_folded_write(const struct tpa_tree *tree, FILE *out);

#endif
