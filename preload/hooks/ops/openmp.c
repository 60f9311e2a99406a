/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/openmp.h"

#include "hooks/ops/entry.h"

static uint32_t number_of(uintptr_t function, bool may_write)
{
	return may_write ? tp_entry_number(function, TP_ENTRY_OPENMP) : tp_entry_known(function, TP_ENTRY_OPENMP);
}

/* GOMP_parallel(fn, data, threads, flags) and its like. */
static uint32_t gomp_op(const uintptr_t *frame, bool may_write)
{
	return number_of(tp_argument(frame, 0), may_write);
}

/* __kmpc_fork_call(location, arguments, fn, ...). */
static uint32_t kmpc_op(const uintptr_t *frame, bool may_write)
{
	return number_of(tp_argument(frame, 2), may_write);
}

bool tp_openmp_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	bool gomp = strncmp(symbol, "GOMP_parallel", 13) == 0 || strcmp(symbol, "GOMP_teams_reg") == 0;

	if (strcmp(symbol, "GOMP_parallel_end") == 0 || strcmp(symbol, "GOMP_parallel_start") == 0 ||
	    (gomp && strstr(symbol, "_start")))
		return false; /* of before GCC 4.9: they return at once */
	if (!gomp && strncmp(symbol, "__kmpc_fork_call", 16) != 0 && strcmp(symbol, "__kmpc_fork_teams") != 0)
		return false;
	signature->op = gomp ? gomp_op : kmpc_op;
	tp_text_add(to, symbol);
	return true;
}
