/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops of a thread for formats in which only the innermost open one can end. Where an op ends around others that stay open, those are
 * interrupted: they end with it, and begin anew.
 */
#ifndef TPROF_EXPORT_NEST_H
#define TPROF_EXPORT_NEST_H

#include "export/walk.h"

enum tpa_nest_step { TPA_NEST_BEGIN, TPA_NEST_END, TPA_NEST_INTERRUPT, TPA_NEST_RESUME };

/* `op`: of BEGIN and END, the op that the walk tells of; of the others only its thread and time are to be used. */
typedef void tpa_nest_put(void *to, enum tpa_nest_step step, uint32_t item, uint64_t ns, const struct tpa_walk_op *op);

struct tpa_nest { /* all zero at first */
	struct tpa_nest_thread *threads;
	size_t count, room;
	tpa_nest_put *put;
	void *to;
};

/* To be called with what a walk's op_begin and op are. `item`: a number that `put` is given again. */
void tpa_nest_begin(struct tpa_nest *nest, const struct tpa_walk_op *op, uint32_t item);
void tpa_nest_end(struct tpa_nest *nest, const struct tpa_walk_op *op);

/* Forgets all threads, as when a process ends. */
void tpa_nest_clear(struct tpa_nest *nest);
void tpa_nest_free(struct tpa_nest *nest);

#endif
