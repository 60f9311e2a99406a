/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/estimate.h"

#include <math.h>

#include "model/stats/stats.h"

bool tp_run_estimated(const struct tp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].estimated)
			return true;
	return false;
}

struct tp_unseen tp_unseen_larger(struct tp_unseen a, struct tp_unseen b)
{
	return (struct tp_unseen){ fmax(a.bytes, b.bytes), fmax(a.blocks, b.blocks) };
}

struct tp_unseen tp_run_unseen(const struct tp_run *run)
{
	struct tp_unseen unseen = { 0, 0 };

	for (size_t i = 0; i < run->process_count; i++)
		unseen = tp_unseen_larger(unseen, run->processes[i].unseen);
	return unseen;
}
