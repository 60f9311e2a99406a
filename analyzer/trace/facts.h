/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the tables that are about the run as a whole: values that the program said, and its counters. */
#ifndef TPROF_TRACE_FACTS_H
#define TPROF_TRACE_FACTS_H

#include "trace/trace.h"

/* The fields of a VALUE, COUNTER or REACH record, [at, end). False: no memory. *bad: they are damaged. */
bool tp_fact_value(struct tp_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);
bool tp_fact_counter(struct tp_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);
bool tp_fact_reach(struct tp_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);

/* Of a JITDUMP record: any path may be one. */
bool tp_fact_jitdump(struct tp_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);

/* Of a FILE record. */
bool tp_fact_file(struct tp_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);

bool tp_fact_hooks(struct tp_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);
void tp_facts_free(struct tp_trace *trace);

#endif
