/* SPDX-License-Identifier: Apache-2.0 */
/* Table records that could not be written, and what refers to them. */
#ifndef TPROF_TRACE_LOST_RECORDS_H
#define TPROF_TRACE_LOST_RECORDS_H

#include "trace/records.h"

/* header.tables_from: ticks since when records are missing; 0: none are. Asked once the tables are read. */
uint64_t tpa_missing_from(struct tpa_trace_impl *impl);

/* Which nodes have all their records, while their numbers are the file's. False: no memory. */
bool tpa_missing_nodes(struct tpa_trace_impl *impl, const struct tpa_join *joins, size_t join_count);

/* Ends each event chunk before what refers to a missing record, or came later. False: no memory. */
bool tpa_missing_cut(struct tpa_trace_impl *impl);

#endif
