/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the tables that are about the run as a whole: values that the program said, and its counters. */
#ifndef TPROF_TRACE_FACTS_H
#define TPROF_TRACE_FACTS_H

#include "trace/trace.h"

/* The fields of a VALUE, COUNTER or REACH record, [at, end). False: no memory. *bad: they are damaged. */
bool tpa_fact_value(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);
bool tpa_fact_counter(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);
bool tpa_fact_reach(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);

/* Of a JITDUMP record: any path may be one. */
bool tpa_fact_jitdump(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);

/* Of a FILE record. */
bool tpa_fact_file(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);

bool tpa_fact_hooks(struct tpa_trace *trace, const uint8_t *at, const uint8_t *end, bool *bad);
void tpa_facts_free(struct tpa_trace *trace);

#endif
