/* SPDX-License-Identifier: Apache-2.0 */
#include "base/varint.h"

/* Where the reader moves after a malformed number: readable zeros outside any data. */
static const uint8_t nowhere[2 * TPA_PADDING];

struct tpa_varint tpa_varint_long(const uint8_t *at)
{
	struct tpa_varint result = { 0, at };
	unsigned shift;

	for (shift = 0; shift < 63; shift += 7) {
		uint8_t byte = *result.next++;

		result.value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return result;
	}
	if (*result.next > 1)
		return (struct tpa_varint){ 0, nowhere };
	result.value |= (uint64_t)*result.next++ << 63;
	return result;
}

bool tpa_uvarint_within(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		if (shift == 63 && byte > 1)
			return false;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}
