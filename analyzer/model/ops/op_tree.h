/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which op called which: a node for each chain of ops that was met, its calls summed up. All threads share it. There are
 * at most TPA_OP_NODES; what finds no place any more is put together in one node of its own.
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
	TPA_OP_NODE_ROOT = 0,	 /* above the outermost ops */
	TPA_OP_NODE_FURTHER = 1, /* all chains that came too late */
};

struct tpa_op_tree {
	struct tpa_op_node *nodes; /* NULL: no op was met */
	size_t count, room;
	struct tpa_pairs children; /* (parent, op) to a node */
};

/* Whether it is an annotation of the category "layer", as tprof.watch() makes them of a model's modules. */
bool tpa_op_is_layer(const struct tpa_trace *trace, uint32_t op);

void tpa_op_tree_free(struct tpa_op_tree *tree);

/* Saves, or loads into an empty tree. */
void tpa_op_tree_archive(struct tpa_archive *archive, struct tpa_op_tree *tree);

/* The node of `op` under that node. */
uint32_t tpa_op_tree_child(struct tpa_op_tree *tree, uint32_t parent, uint32_t op);

#endif
