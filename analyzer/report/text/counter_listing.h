/* SPDX-License-Identifier: Apache-2.0 */
/* Performance counters of the process and of its ops. */
#ifndef TPROF_REPORT_TEXT_COUNTER_LISTING_H
#define TPROF_REPORT_TEXT_COUNTER_LISTING_H

#include "report/text/op_listing.h"

/* Prints the table of ops, or nothing if nothing was counted. */
void tpa_op_counters_print(const struct tpa_page *page, const struct tpa_process *process,
			   const struct tpa_op_list *list, uint64_t top);

#endif
