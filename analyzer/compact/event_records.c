/* SPDX-License-Identifier: Apache-2.0 */
/* The records of event chunks: which field goes into which column. format.h describes the records. */
#include <tprof/format.h>

#include "compact/group.h"

#define INLINE __attribute__((always_inline)) static inline

/* The address in its own form: as the record has it. */
INLINE uint64_t code_plain_address(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, bool decoding)
{
	uint64_t address;

	if (tag & TPROF_TAG_ADDRESS_INDEX)
		return addresses->recent[tpa_code_byte(coder, TPA_COLUMN_INDEX, decoding)];
	address = addresses->last + tpa_unzigzag(tpa_code_number(coder, TPA_COLUMN_DELTA, decoding));
	addresses->last = address;
	addresses->recent[tprof_address_slot(address)] = address;
	return address;
}

/* Takes an address from the record. False: the same form would not come back. */
INLINE bool take_address(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, uint64_t *address)
{
	if (tag & TPROF_TAG_ADDRESS_INDEX) {
		uint8_t index = coder->in < coder->in_end ? *coder->in : 0;

		coder->failed |= coder->in++ >= coder->in_end;
		*address = addresses->recent[index];
		return tprof_address_slot(*address) == index;
	}
	*address = addresses->last + tpa_unzigzag(tpa_records_take(coder));
	return true;
}

/* Puts an address that was predicted into the record. */
INLINE void put_address(struct tpa_coder *coder, const struct tpa_addresses *addresses, uint8_t tag, uint64_t address)
{
	if (!(tag & TPROF_TAG_ADDRESS_INDEX))
		tpa_records_put(coder, tpa_zigzag(address - addresses->last));
	else if (coder->out < coder->out_end)
		*coder->out++ = (uint8_t)tprof_address_slot(address);
	else
		coder->failed = true;
}

INLINE void remember(struct tpa_addresses *addresses, uint8_t tag, uint64_t address)
{
	if (tag & TPROF_TAG_ADDRESS_INDEX)
		return;
	addresses->last = address;
	addresses->recent[tprof_address_slot(address)] = address;
}

/* The address of a freed block, by how many allocations ago it was allocated. */
INLINE void code_free_address(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, bool decoding)
{
	const uint8_t *record = coder->in;
	uint64_t age = 0, address = 0;

	if (decoding) {
		age = tpa_column_take(coder, TPA_COLUMN_FREE_OF);
	} else {
		age = take_address(coder, addresses, tag, &address) ? tpa_addresses_age(addresses, address) : 0;
		tpa_column_put(coder, TPA_COLUMN_FREE_OF, age);
	}
	if (!age) {
		coder->in = record;
		code_plain_address(coder, addresses, tag, decoding);
		return;
	}
	coder->failed |= !tpa_addresses_free(addresses, age, &address);
	if (decoding)
		put_address(coder, addresses, tag, address);
	remember(addresses, tag, address);
}

/* The number that comes next in a column. */
INLINE uint64_t peek(const struct tpa_coder *coder, unsigned number)
{
	const struct tpa_column *column = &coder->columns[number];
	uint64_t value = 0;
	unsigned shift = 0;

	for (size_t at = column->at; at < column->length && shift < 64; shift += 7) {
		value |= (uint64_t)(column->bytes[at] & 127u) << shift;
		if (column->bytes[at++] < 128)
			break;
	}
	return value;
}

/* The number at *at in the records, which moves behind it. */
INLINE uint64_t look(const struct tpa_coder *coder, const uint8_t **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < coder->in_end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127u) << shift;
		if (byte < 128)
			break;
	}
	return value;
}

/* The class of the block's usable size, which stands behind its address. */
INLINE unsigned size_ahead(const struct tpa_coder *coder, uint8_t tag, bool decoding)
{
	uint64_t size, more = 0;

	if (decoding) {
		size = peek(coder, TPA_COLUMN_SIZE);
		if (tag & TPROF_ALLOC_USABLE)
			more = peek(coder, TPA_COLUMN_USABLE);
	} else {
		const uint8_t *at = coder->in;

		if (tag & TPROF_TAG_ADDRESS_INDEX)
			at += at < coder->in_end;
		else
			look(coder, &at);
		size = look(coder, &at);
		if (tag & TPROF_ALLOC_USABLE)
			more = look(coder, &at);
	}
	return tpa_size_class(tag & TPROF_ALLOC_USABLE ? size + more : tprof_usable_guess(size));
}

/* The address of an allocated block, by its place among the freed ones of its size. */
INLINE void code_alloc_address(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, bool decoding)
{
	unsigned size = size_ahead(coder, tag, decoding);
	const uint8_t *record = coder->in;
	uint64_t address = 0, place = 0;

	if (decoding) {
		place = tpa_column_take(coder, TPA_COLUMN_ALLOC_FROM);
	} else {
		if (take_address(coder, addresses, tag, &address))
			place = tpa_addresses_place(addresses, size, address);
		tpa_column_put(coder, TPA_COLUMN_ALLOC_FROM, place);
	}
	if (!place) {
		coder->in = record;
		address = code_plain_address(coder, addresses, tag, decoding);
	} else {
		coder->failed |= !tpa_addresses_reuse(addresses, size, place, &address);
		if (decoding)
			put_address(coder, addresses, tag, address);
		remember(addresses, tag, address);
	}
	tpa_addresses_allocate(addresses, size, address, !decoding);
}

INLINE void code_alloc(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, bool decoding)
{
	code_alloc_address(coder, addresses, tag, decoding);
	tpa_code_number(coder, TPA_COLUMN_SIZE, decoding);
	if (tag & TPROF_ALLOC_USABLE)
		tpa_code_number(coder, TPA_COLUMN_USABLE, decoding);
	if (tag & TPROF_ALLOC_FN)
		tpa_code_bytes(coder, TPA_COLUMN_ALLOC_FN, 2, decoding);
	if (tag & TPROF_ALLOC_MEAN)
		tpa_code_byte(coder, TPA_COLUMN_ALLOC_FN, decoding);
	switch (tag >> TPROF_ALLOC_STACK_SHIFT & 3) {
	case TPROF_STACK_INDEX:
		tpa_code_byte(coder, TPA_COLUMN_STACK_INDEX, decoding);
		break;
	case TPROF_STACK_DELTA:
		tpa_code_number(coder, TPA_COLUMN_STACK_DELTA, decoding);
		break;
	default:
		break;
	}
}

INLINE void code_free(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, bool decoding)
{
	code_free_address(coder, addresses, tag, decoding);
	if (tag & TPROF_FREE_FN)
		tpa_code_byte(coder, TPA_COLUMN_FREE_FN, decoding);
}

/* A begin has an op, and an end of an op with others in it their number. */
INLINE void code_op(struct tpa_coder *coder, uint8_t tag, bool decoding)
{
	if (!(tag & TPROF_OP_END) || tag & TPROF_OP_OUTER)
		tpa_code_number(coder, TPA_COLUMN_OP, decoding);
}

INLINE void code_long(struct tpa_coder *coder, struct tpa_addresses *addresses, uint8_t tag, bool decoding)
{
	uint64_t length = tpa_code_number(coder, TPA_COLUMN_LENGTH, decoding);

	tpa_visit_body(coder, tag, length, decoding);
	tpa_code_bytes(coder, TPA_COLUMN_LONG + (tag >> 2), length, decoding);
	if (tag >> 2 == TPROF_EVENT_THREAD)
		tpa_addresses_restart(addresses);
}

INLINE void code(struct tpa_coder *coder, struct tpa_addresses *addresses, bool decoding)
{
	unsigned before = TPROF_CLASS_LONG;

	tpa_addresses_restart(addresses);
	while (!coder->failed && (decoding ? coder->out < coder->out_end : coder->in < coder->in_end)) {
		uint8_t tag = tpa_code_byte(coder, TPA_COLUMN_TAG, decoding);
		unsigned class = tag & 3;

		if (class != TPROF_CLASS_LONG)
			tpa_code_number(coder, TPA_COLUMN_TIME + class * TPA_CLASSES + before, decoding);
		if (class == TPROF_CLASS_ALLOC)
			code_alloc(coder, addresses, tag, decoding);
		else if (class == TPROF_CLASS_FREE)
			code_free(coder, addresses, tag, decoding);
		else if (class == TPROF_CLASS_OP)
			code_op(coder, tag, decoding);
		else
			code_long(coder, addresses, tag, decoding);
		before = class;
	}
}

void tpa_code_events(struct tpa_coder *coder, struct tpa_addresses *addresses, bool decoding)
{
	if (decoding)
		code(coder, addresses, true);
	else
		code(coder, addresses, false);
}
