/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the model: a generated program that allocates in two places. Included behind cmocka. */
#ifndef TPROF_TESTS_TWO_SITES_H
#define TPROF_TESTS_TWO_SITES_H

#include "tracegen.h"

/* The stack of place `i`, 0 or 1. */
#define SITE(i) (TPROF_NODE_FIRST + (uint32_t)(i))

static inline void two_sites(struct gen *gen)
{
	const uint32_t frames[] = { 1, 2 };

	gen_module(gen, 1, 0x10000, 0x10000, 0x20000, "/usr/bin/program");
	gen_frame(gen, 1, 1, 0x100, 0);
	gen_frame(gen, 2, 1, 0x200, 0);
	gen_nodes(gen, SITE(0), TPROF_NODE_ROOT, &frames[0], 1);
	gen_nodes(gen, SITE(1), TPROF_NODE_ROOT, &frames[1], 1);
}

#endif
