/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/usage.h"

#include <string.h>

#include "base/varint.h"

#define FIELDS (sizeof(struct tp_usage) / sizeof(uint64_t))

bool tp_usage_read(struct tp_usage *usage, const char *bytes, size_t length)
{
	uint8_t copy[10 * FIELDS + TP_PADDING] = { 0 };
	uint64_t fields[FIELDS] = { 0 };
	const uint8_t *at = copy;

	length = length < 10 * FIELDS ? length : 10 * FIELDS;
	memcpy(copy, bytes, length);
	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = tp_uvarint(&at);
		if (!tp_read_ok(copy, at, copy + length))
			return false;
	}
	memcpy(usage, fields, sizeof(fields));
	return true;
}

struct tp_usage tp_usage_less(const struct tp_usage *usage, const struct tp_usage *before)
{
	return (struct tp_usage){ usage->minor_faults - before->minor_faults,
				  usage->major_faults - before->major_faults,
				  usage->waits - before->waits,
				  usage->preemptions - before->preemptions,
				  usage->cpu_ns - before->cpu_ns,
				  usage->own_cpu_ns - before->own_cpu_ns };
}

void tp_usage_add(struct tp_usage *to, const struct tp_usage *from)
{
	to->minor_faults += from->minor_faults;
	to->major_faults += from->major_faults;
	to->waits += from->waits;
	to->preemptions += from->preemptions;
	to->cpu_ns += from->cpu_ns;
	to->own_cpu_ns += from->own_cpu_ns;
}
