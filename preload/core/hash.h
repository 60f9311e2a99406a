/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes that identify what they are computed from: equal hashes count as equal, nothing else is compared. So two
 * inputs in a row must not cancel out: each step mixes everything before the next input. The chance of a collision is
 * one in 2^64 pairs.
 */
#ifndef TPROF_CORE_HASH_H
#define TPROF_CORE_HASH_H

#include "core/base.h"

/*
 * Combines the halves of the 128-bit product. The low half alone would only carry upwards: few upper bits of the next
 * word could undo those of this one. Takes as long as a shift would.
 */
static inline uint64_t tpc_hash_word(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The last bytes, at most eight. */
static inline uint64_t tpc_hash_tail(const uint8_t *bytes, size_t length)
{
	uint32_t first, last;
	uint64_t all;

	if (length >= sizeof(all)) {
		memcpy(&all, bytes + length - sizeof(all), sizeof(all));
		return all;
	}
	if (length >= sizeof(first)) {
		memcpy(&first, bytes, sizeof(first));
		memcpy(&last, bytes + length - sizeof(last), sizeof(last));
		return first | (uint64_t)last << 32;
	}
	if (!length)
		return 0;
	return bytes[0] | (uint64_t)bytes[length / 2] << 8 | (uint64_t)bytes[length - 1] << 16;
}

/* Eight bytes at a time, and the length, so that "ab", "c" differs from "a", "bc". */
static inline uint64_t tpc_hash_bytes(uint64_t hash, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	uint64_t word;

	hash = tpc_hash_word(hash, length);
	for (size_t i = 0; i + sizeof(word) < length; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		hash = tpc_hash_word(hash, word);
	}
	return tpc_hash_word(hash, tpc_hash_tail(bytes, length));
}

#endif
