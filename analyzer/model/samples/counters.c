/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/counters.h"

#include <string.h>

#include "base/varint.h"

void tp_counters_decode(struct tp_counters *counters, uint64_t idle_ns, const char *increases, size_t length)
{
	uint8_t copy[10 * TPROF_COUNTERS_MAX + TP_PADDING] = { 0 };
	const uint8_t *at = copy;

	length = length < (size_t)10 * TPROF_COUNTERS_MAX ? length : (size_t)10 * TPROF_COUNTERS_MAX;
	memcpy(copy, increases, length);
	*counters = (struct tp_counters){ .idle_ns = idle_ns };
	for (size_t i = 0; i < TPROF_COUNTERS_MAX; i++) {
		uint64_t value = tp_uvarint(&at);

		if (!tp_read_ok(copy, at, copy + length))
			return;
		counters->value[i] = value;
	}
}

void tp_counters_add(struct tp_counters *to, const struct tp_counters *from)
{
	for (size_t i = 0; i < TPROF_COUNTERS_MAX; i++)
		to->value[i] += from->value[i];
	to->idle_ns += from->idle_ns;
}
