/* SPDX-License-Identifier: Apache-2.0 */
/* Table records that could not be written as the disk was full, and the events that refer to them. */
#ifndef TPROF_TRACE_LOST_RECORDS_H
#define TPROF_TRACE_LOST_RECORDS_H

#include "trace/records.h"

/* Reads header.tables_from again, once the tables are read: the ticks since when records are missing; 0: none are. */
uint64_t tpa_missing_from(struct tpa_trace_impl *impl);

/* Finds the nodes whose records are all there. */
void tpa_missing_nodes(struct tpa_trace_impl *impl);

/* Ends each event chunk before its first event that refers to a missing record or came after header.tables_from. */
void tpa_missing_cut(struct tpa_trace_impl *impl);

#endif
