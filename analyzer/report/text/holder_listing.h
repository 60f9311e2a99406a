/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what keeps blocks alive: paths from roots, and the memory that they retain. */
#ifndef TPROF_REPORT_TEXT_HOLDER_LISTING_H
#define TPROF_REPORT_TEXT_HOLDER_LISTING_H

#include "report/rows/view.h"

/* Prints the holders of what grows first, then the largest holders. */
void tpa_holders_print(const struct tpa_growth_view *view);

/* Prints "held by ..." below a stack; nothing if it is unknown. */
void tpa_holder_print_line(const struct tpa_listing *listing, size_t process, uint32_t node, uint32_t op);

#endif
