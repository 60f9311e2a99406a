/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/counters.h"

void tp_counters_add(struct tp_counters *to, const struct tp_counters *from)
{
	for (size_t i = 0; i < TPROF_COUNTERS_MAX; i++)
		to->value[i] += from->value[i];
	to->idle_ns += from->idle_ns;
}
