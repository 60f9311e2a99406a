/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of calls: one node for each chain of ops that occurred, with its calls summed up. All threads share it. It
 * has at most TPA_OP_NODES nodes. Chains that come later share one node.
 */
#ifndef TPROF_MODEL_OPS_OP_TREE_H
#define TPROF_MODEL_OPS_OP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"
#include "model/ops/op_stats.h"
#include "trace/trace.h"

struct tpa_archive;

#define TPA_OP_NODES 65536u

enum {
	TPA_OP_NODE_ROOT = 0,	 /* the parent of the outermost ops */
	TPA_OP_NODE_FURTHER = 1, /* all chains for which there was no node left */
};

struct tpa_op_tree {
	struct tpa_op_node *nodes; /* NULL: no op has begun */
	size_t count, room;
	struct tpa_pairs children; /* (parent, op) to node */
};

/* Whether an op is an annotation of the category "layer", as tprof.watch() makes them for a model's modules. */
bool tpa_op_is_layer(const struct tpa_trace *trace, uint32_t op);

void tpa_op_tree_free(struct tpa_op_tree *tree);

/* Saves, or loads into an empty tree. */
void tpa_op_tree_archive(struct tpa_archive *archive, struct tpa_op_tree *tree);

/* The node of `op` under `parent`, which is added if it is new. TPA_OP_NODE_FURTHER if the tree is full. */
uint32_t tpa_op_tree_child(struct tpa_op_tree *tree, uint32_t parent, uint32_t op);

#endif
