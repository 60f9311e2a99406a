/* SPDX-License-Identifier: Apache-2.0 */
#include "export/rank_flows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ranks/ranks.h"

struct flow {
	int64_t wait_ns;
	uint32_t op; /* that waited */
};

struct tpa_rank_flows {
	const struct tpa_export *export;
	const struct tpa_ranks *ranks;
	struct flow *list;
	size_t count;
};

static int compare(const void *left, const void *right)
{
	const struct flow *a = left, *b = right;

	return TPA_DOWN(a->wait_ns, b->wait_ns) ?: TPA_UP(a->op, b->op);
}

struct tpa_rank_flows *tpa_rank_flows_new(const struct tpa_export *export)
{
	const struct tpa_ranks *ranks = export->ranks;
	struct tpa_rank_flows *flows;

	if (!ranks)
		return NULL;
	flows = tpa_zalloc(1, sizeof(*flows));
	flows->export = export;
	flows->ranks = ranks;
	flows->list = tpa_zalloc(ranks->op_count + 1, sizeof(*flows->list));
	for (size_t i = 0; i < ranks->op_count; i++)
		if (ranks->ops[i].wait_ns)
			flows->list[flows->count++] = (struct flow){ ranks->ops[i].wait_ns, (uint32_t)i };
	qsort(flows->list, flows->count, sizeof(*flows->list), compare);
	if (flows->count > TPA_RANK_FLOWS_MOST)
		flows->count = TPA_RANK_FLOWS_MOST;
	return flows;
}

void tpa_rank_flows_free(struct tpa_rank_flows *flows)
{
	if (!flows)
		return;
	free(flows->list);
	free(flows);
}

static const struct tpa_trace *trace_of(const struct tpa_rank_flows *flows, uint32_t rank)
{
	return flows->export->run->processes[flows->ranks->list[rank].process].trace;
}

static void tell(const struct tpa_rank_flows *flows, const struct tpa_walk *walk, const struct flow *flow, bool arrives,
		 tpa_rank_flow_put *put, void *to)
{
	const struct tpa_ranks *ranks = flows->ranks;
	const struct tpa_rank_op *waits = &ranks->ops[flow->op], *late = &ranks->ops[waits->cause];
	const struct tpa_rank_op *here = arrives ? waits : late;
	const struct tpa_rank *rank = &ranks->list[here->rank];
	/* Within the late call, which begins then; where the other one's waiting ends. */
	int64_t own = tpa_rank_own_time(ranks, rank, arrives ? waits->begin + waits->wait_ns : late->post + 1);
	int64_t ns = own + (int64_t)walk->start_ns;

	if (ns < (int64_t)walk->from_ns || (walk->export->replay->to_ns && ns > (int64_t)walk->export->replay->to_ns) ||
	    ns < 0)
		return;
	put(to, &(struct tpa_rank_flow){
			.number = TPA_RANK_FLOW + flow->op,
			.thread = rank->said->calls[here->call].thread,
			.ns = (uint64_t)ns,
			.arrives = arrives,
			.pattern = tpa_wait_pattern_name(ranks->groups[waits->group].pattern),
			.other = ranks->list[arrives ? late->rank : waits->rank].number,
			.wait_ns = (uint64_t)flow->wait_ns,
		});
}

void tpa_rank_flows_tell(const struct tpa_rank_flows *flows, const struct tpa_walk *walk, tpa_rank_flow_put *put,
			 void *to)
{
	for (size_t i = 0; flows && i < flows->count; i++) {
		const struct tpa_rank_op *waits = &flows->ranks->ops[flows->list[i].op];

		if (trace_of(flows, flows->ranks->ops[waits->cause].rank) == walk->trace)
			tell(flows, walk, &flows->list[i], false, put, to);
		if (trace_of(flows, waits->rank) == walk->trace)
			tell(flows, walk, &flows->list[i], true, put, to);
	}
}
