/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers into a block's inside that stand for the block, as compilers and libraries make them by rule. */
#ifndef TPROF_MODEL_REPLAY_INTERIOR_H
#define TPROF_MODEL_REPLAY_INTERIOR_H

#include "model/replay/reach.h"

/*
 * Whether a pointer is such a one. The rules are those of Valgrind's --leak-check-heuristics: behind a length (length64),
 * behind the number of an array's elements (newarray), the text of an old std::string (stdstring), and a second base class of
 * an object (multipleinheritance). `roots`: what is mapped from files, where tables of virtual functions are.
 */
bool tpa_interior_is_block(const struct tpa_reach_block *block, uint64_t pointer, const struct tpa_reach_roots *roots,
			   tpa_reach_read *read, void *context);

#endif
