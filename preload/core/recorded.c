/* SPDX-License-Identifier: Apache-2.0 */
#include "core/recorded.h"

#include "core/commit.h"

static const uint8_t *pass_uvarint(const uint8_t *p)
{
	while (*p++ & 0x80)
		;
	return p;
}

static const uint8_t *pass_address(const uint8_t *p, uint8_t tag)
{
	return tag & TPROF_TAG_ADDRESS_INDEX ? p + 1 : pass_uvarint(p);
}

static const uint8_t *pass_alloc(const uint8_t *p, uint8_t tag)
{
	uint32_t stack = tag >> TPROF_ALLOC_STACK_SHIFT & 3;

	p = pass_uvarint(pass_address(pass_uvarint(p), tag));
	if (tag & TPROF_ALLOC_USABLE)
		p = pass_uvarint(p);
	if (tag & TPROF_ALLOC_FN)
		p += 2;
	if (stack == TPROF_STACK_INDEX)
		return p + 1;
	return stack == TPROF_STACK_DELTA ? pass_uvarint(p) : p;
}

static const uint8_t *pass_long(const uint8_t *p)
{
	uint64_t length = 0;
	unsigned int shift = 0;

	do {
		length |= (uint64_t)(*p & 0x7f) << shift;
		shift += 7;
	} while (*p++ & 0x80);
	return p + length;
}

/* `p` is behind the tag. */
static const uint8_t *pass(const uint8_t *p, uint8_t tag)
{
	switch (tag & 3) {
	case TPROF_CLASS_ALLOC:
		return pass_alloc(p, tag);
	case TPROF_CLASS_FREE:
		return pass_address(pass_uvarint(p), tag) + (tag & TPROF_FREE_FN ? 1 : 0);
	case TPROF_CLASS_OP:
		return tag & TPROF_OP_END && !(tag & TPROF_OP_OUTER) ? pass_uvarint(p) : pass_uvarint(pass_uvarint(p));
	}
	return pass_long(p);
}

static int counts(uint8_t tag)
{
	uint8_t class = tag & 3;

	if (tag == TPROF_EVENT_CANCEL << 2)
		return -1; /* it cancels the free before it */
	return class == TPROF_CLASS_ALLOC || class == TPROF_CLASS_FREE || tag == TPROF_EVENT_ALLOC << 2 ||
	       tag == TPROF_EVENT_FREE << 2;
}

uint64_t tpc_recorded_count(const struct tprof_chunk *chunk)
{
	const uint8_t *p = (const uint8_t *)(chunk + 1), *end = p + tpc_chunk_committed(chunk);
	int64_t count = 0;

	if (chunk->kind != TPROF_CHUNK_EVENTS)
		return 0;
	while (p < end) {
		uint8_t tag = *p++;

		count += counts(tag);
		p = pass(p, tag);
	}
	return count > 0 ? (uint64_t)count : 0;
}
