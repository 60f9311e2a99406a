/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/counters.h"

void tpa_counters_add(struct tpa_counters *to, const struct tpa_counters *from)
{
	for (size_t i = 0; i < TPROF_COUNTERS_MAX; i++)
		to->value[i] += from->value[i];
	to->idle_ns += from->idle_ns;
}

struct tpa_usage tpa_usage_less(const struct tpa_usage *usage, const struct tpa_usage *before)
{
	return (struct tpa_usage){ usage->minor_faults - before->minor_faults,
				   usage->major_faults - before->major_faults,
				   usage->waits - before->waits,
				   usage->preemptions - before->preemptions,
				   usage->cpu_ns - before->cpu_ns,
				   usage->own_cpu_ns - before->own_cpu_ns };
}

void tpa_usage_add(struct tpa_usage *to, const struct tpa_usage *from)
{
	to->minor_faults += from->minor_faults;
	to->major_faults += from->major_faults;
	to->waits += from->waits;
	to->preemptions += from->preemptions;
	to->cpu_ns += from->cpu_ns;
	to->own_cpu_ns += from->own_cpu_ns;
}
