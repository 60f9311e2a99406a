/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "trace/impl.h"

/* A report lists a few; more would only be memory that a broken file makes us take. */
#define DAMAGE_MAX 256

void tp_damage_add(struct tp_trace *trace, uint64_t offset, uint64_t lost_bytes, const char *reason)
{
	struct tp_trace_impl *impl = tp_impl(trace);
	size_t i;

	for (i = 0; i < trace->damage_count; i++)
		if (trace->damage[i].offset == offset && trace->damage[i].reason == reason)
			return;
	if (trace->damage_count == DAMAGE_MAX) {
		struct tp_damage *last = &trace->damage[DAMAGE_MAX - 1];

		last->lost_bytes += lost_bytes;
		last->reason = "more damage follows";
		return;
	}
	if (!tp_reserve(&trace->damage, &impl->damage_room, trace->damage_count + 1, sizeof(*trace->damage)))
		return;
	trace->damage[trace->damage_count++] = (struct tp_damage){ offset, lost_bytes, reason };
}
