/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of ops: a trace with an annotation and two functions, and what its events cost. Behind replayed.h. */
#ifndef TPROF_TESTS_OP_GEN_H
#define TPROF_TESTS_OP_GEN_H

#include "tracegen.h"

enum { NOTE = 1, FUNCTION, LEAF };

static inline struct gen *new_gen(uint32_t inside, uint32_t outside)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });

	gen_op(gen, NOTE, TPROF_OP_ANNOTATION, "layer", "note");
	gen_op(gen, FUNCTION, TPROF_OP_FUNCTION, "torch", "function");
	gen_op(gen, LEAF, TPROF_OP_FUNCTION, "blas", "leaf");
	gen_header(gen)->op_inside_ticks = inside;
	gen_header(gen)->op_outside_ticks = outside;
	return gen;
}

#endif
