/* SPDX-License-Identifier: Apache-2.0 */
#include "compact/coder.h"

#include <string.h>

void tpa_code_bytes(struct tpa_coder *coder, unsigned number, uint64_t count, bool decoding)
{
	struct tpa_column *column = &coder->columns[number];

	if (decoding) {
		if (count > column->length - column->at || count > (size_t)(coder->out_end - coder->out)) {
			coder->failed = true;
			return;
		}
		if (count)
			memcpy(coder->out, column->bytes + column->at, count);
		coder->out += count;
		column->at += count;
		return;
	}
	if (count > (size_t)(coder->in_end - coder->in)) {
		coder->failed = true;
		return;
	}
	tpa_grow(&column->bytes, &column->room, column->length + count, 1);
	if (count)
		memcpy(column->bytes + column->length, coder->in, count);
	column->length += count;
	coder->in += count;
}

void tpa_column_put(struct tpa_coder *coder, unsigned number, uint64_t value)
{
	struct tpa_column *column = &coder->columns[number];

	for (; value >= 128; value >>= 7)
		*TPA_APPEND(column->bytes, column->length, column->room) = (uint8_t)(value | 128);
	*TPA_APPEND(column->bytes, column->length, column->room) = (uint8_t)value;
}

uint64_t tpa_column_take(struct tpa_coder *coder, unsigned number)
{
	struct tpa_column *column = &coder->columns[number];
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && column->at < column->length; shift += 7) {
		uint8_t byte = column->bytes[column->at++];

		value |= (uint64_t)(byte & 127u) << shift;
		if (byte < 128)
			return value;
	}
	coder->failed = true;
	return 0;
}

void tpa_records_put(struct tpa_coder *coder, uint64_t value)
{
	do {
		if (coder->out >= coder->out_end) {
			coder->failed = true;
			return;
		}
		*coder->out++ = (uint8_t)(value >= 128 ? value | 128 : value);
		value >>= 7;
	} while (value);
}

uint64_t tpa_records_take(struct tpa_coder *coder)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && coder->in < coder->in_end; shift += 7) {
		uint8_t byte = *coder->in++;

		value |= (uint64_t)(byte & 127u) << shift;
		if (byte >= 128)
			continue;
		/* More bytes than needed, or bits that do not fit: it would not come back as it was. */
		if ((!byte && shift) || (shift == 63 && byte > 1))
			break;
		return value;
	}
	coder->failed = true;
	return 0;
}
