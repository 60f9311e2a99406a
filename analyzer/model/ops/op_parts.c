/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel regions and what their threads did. The thread that opens a region does a part of it, too. The rest of the
 * region's time on that thread is spent on waiting for the other threads, and to a small part on starting them.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "model/ops/ops.h"

static enum tpa_parallel parallel_of(const struct tpa_ops *ops, uint32_t op)
{
	return op && op < ops->trace->op_count ? ops->trace->ops[op].parallel : TPA_PARALLEL_NONE;
}

static void join_part(const struct tpa_ops *ops, struct tpa_op_stats *const *by_op, struct tpa_op_stats *part)
{
	uint32_t number = ops->trace->ops[part->op].region;
	struct tpa_op_stats *region = number ? by_op[tpa_op_of(ops, number)] : NULL;

	if (!region)
		return;
	part->is_part = true;
	region->has_parts = true;
	region->parts_allocated_bytes += part->self_allocated_bytes;
}

/* Adds the wait of a region to all ops around it, which waited as long. Each op counts it once. */
static void add_wait(const struct tpa_ops *ops, struct tpa_op_stats *const *by_op, uint32_t at, uint32_t *seen)
{
	const struct tpa_op_node *nodes = ops->tree.nodes;
	uint64_t wait_ns = nodes[at].self_ns;

	for (uint32_t i = at; i >= TPA_OP_NODE_FIRST; i = nodes[i].parent) {
		struct tpa_op_stats *stats = by_op[nodes[i].op];

		if (!stats || seen[nodes[i].op] == at)
			continue;
		seen[nodes[i].op] = at;
		stats->threads_wait_ns += wait_ns;
		stats->has_threads = true;
	}
}

void tpa_ops_join_parts(const struct tpa_ops *ops, struct tpa_op_stats *list, size_t count)
{
	const struct tpa_op_node *nodes = ops->tree.nodes;
	struct tpa_op_stats **by_op;
	uint32_t *seen;

	if (!ops->opened_in)
		return;
	by_op = tpa_zalloc(ops->count, sizeof(struct tpa_op_stats *));
	seen = tpa_zalloc(ops->count, sizeof(*seen));
	for (size_t i = 0; i < count; i++)
		by_op[list[i].op] = &list[i];
	for (size_t i = 0; i < count; i++)
		if (list[i].op < ops->trace->op_count && ops->trace->ops[list[i].op].runs_in)
			list[i].runs_in = tpa_op_of(ops, ops->trace->ops[list[i].op].runs_in);
	for (size_t i = 0; i < count; i++)
		if (parallel_of(ops, list[i].op) == TPA_PARALLEL_PART)
			join_part(ops, by_op, &list[i]);
	for (uint32_t i = TPA_OP_NODE_FIRST; i < ops->tree.count; i++) {
		struct tpa_op_stats *stats = by_op[nodes[i].op];
		uint32_t outer = nodes[i].parent >= TPA_OP_NODE_FIRST ? nodes[nodes[i].parent].op : 0;

		if (stats && stats->is_part && parallel_of(ops, outer) == TPA_PARALLEL_REGION && by_op[outer])
			by_op[outer]->own_part_ns += nodes[i].self_ns;
		else if (stats && stats->has_parts)
			add_wait(ops, by_op, i, seen);
	}
	free(by_op);
	free(seen);
}
