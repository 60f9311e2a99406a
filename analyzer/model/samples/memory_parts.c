/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/memory_parts.h"

#include <string.h>

#include "base/varint.h"

#define NUMBERS 4

void tp_memory_parts_read(struct tp_memory_parts *parts, const char *bytes, size_t length)
{
	uint8_t copy[10 * NUMBERS + TP_PADDING] = { 0 };
	const uint8_t *at = copy, *end = copy + (length < 10 * NUMBERS ? length : 10 * NUMBERS);
	uint64_t numbers[NUMBERS];
	size_t count = 0;

	if (length)
		memcpy(copy, bytes, (size_t)(end - copy));
	while (count < NUMBERS && at < end) {
		uint64_t pages = tp_uvarint(&at);

		if (!tp_read_ok(copy, at, end))
			break;
		numbers[count++] = pages < UINT64_C(1) << 40 ? pages << 12 : UINT64_C(1) << 52;
	}
	if (count)
		parts->shared = numbers[0];
	if (count < NUMBERS)
		return;
	parts->own = numbers[1];
	parts->stacks = numbers[2];
	parts->mapped = numbers[3];
	parts->counted = true;
}
