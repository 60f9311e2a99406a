/* SPDX-License-Identifier: Apache-2.0 */
/* Flows between the ranks of a parallel job: from the call of a rank that came late to the calls that waited for it. */
#ifndef TPROF_EXPORT_RANK_FLOWS_H
#define TPROF_EXPORT_RANK_FLOWS_H

#include "export/walk.h"

/* One end of a flow. */
struct tpa_rank_flow {
	uint64_t number; /* the same at both ends, from TPA_RANK_FLOW on */
	uint32_t thread;
	uint64_t ns;
	bool arrives;	     /* at the call that waited */
	const char *pattern; /* why it waited: tpa_wait_pattern_name() */
	uint32_t other;	     /* number of the rank at the other end */
	uint64_t wait_ns;
};

#define TPA_RANK_FLOW (UINT64_C(1) << 40)
#define TPA_RANK_FLOWS_MOST 10000u /* the longest waits */

struct tpa_rank_flows;

/* NULL: the export knows of no ranks. */
struct tpa_rank_flows *tpa_rank_flows_new(const struct tpa_export *export);
void tpa_rank_flows_free(struct tpa_rank_flows *flows);

/* Tells of all ends of flows in the process of the walk, within the selected time, in no order. `flows` may be NULL. */
typedef void tpa_rank_flow_put(void *to, const struct tpa_rank_flow *flow);
void tpa_rank_flows_tell(const struct tpa_rank_flows *flows, const struct tpa_walk *walk, tpa_rank_flow_put *put,
			 void *to);

#endif
