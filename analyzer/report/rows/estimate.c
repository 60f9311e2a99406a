/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/estimate.h"

#include <math.h>

#include "model/stats/stats.h"

bool tpa_run_estimated(const struct tpa_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].estimated)
			return true;
	return false;
}

struct tpa_unseen tpa_unseen_larger(struct tpa_unseen a, struct tpa_unseen b)
{
	return (struct tpa_unseen){ fmax(a.bytes, b.bytes), fmax(a.blocks, b.blocks) };
}

struct tpa_unseen tpa_run_unseen(const struct tpa_run *run)
{
	struct tpa_unseen unseen = { 0, 0 };

	for (size_t i = 0; i < run->process_count; i++)
		unseen = tpa_unseen_larger(unseen, run->processes[i].unseen);
	return unseen;
}
