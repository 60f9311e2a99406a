/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of work: a kernel of a kind, a type and dimensions. Behind cmocka. */
#ifndef TPROF_TESTS_WORK_MADE_H
#define TPROF_TESTS_WORK_MADE_H

#include "model/flop/work.h"

#define WORK(type, how, ...)                                                                                           \
	((struct tpa_work){ .kind = TPROF_WORK_##type,                                                                 \
			    .dtype = TPROF_DTYPE_##how,                                                                \
			    .dims = sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),                            \
			    .dim = { __VA_ARGS__ } })

static inline uint64_t flop(struct tpa_work work)
{
	struct tpa_work_amount amount = tpa_work_amount(&work);

	assert_true(amount.flop_known);
	return amount.flop;
}

#endif
