/* SPDX-License-Identifier: Apache-2.0 */
/* Performance counters: of the process, and of its ops. */
#ifndef TPROF_REPORT_TEXT_COUNTER_LISTING_H
#define TPROF_REPORT_TEXT_COUNTER_LISTING_H

#include "report/text/op_listing.h"

/* The ops' table: nothing where nothing was counted. */
void tp_op_counters_print(const struct tp_page *page, const struct tp_process *process, const struct tp_op_list *list,
			  uint64_t top);

#endif
