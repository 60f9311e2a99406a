/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pairs.h"

#include <stdlib.h>

static size_t slot_of(const struct tp_pairs *pairs, uint64_t key)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = ((size_t)1 << pairs->bits) - 1;
	size_t i = (size_t)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> (64 - pairs->bits));

	while (pairs->numbers[i] && pairs->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

void tp_pairs_free(struct tp_pairs *pairs)
{
	free(pairs->keys);
	free(pairs->numbers);
}

static bool grow(struct tp_pairs *pairs)
{
	struct tp_pairs larger = { .bits = pairs->bits ? pairs->bits + 1 : 10, .count = pairs->count };
	size_t old = pairs->bits ? (size_t)1 << pairs->bits : 0;

	larger.keys = calloc((size_t)1 << larger.bits, sizeof(*larger.keys));
	larger.numbers = calloc((size_t)1 << larger.bits, sizeof(*larger.numbers));
	if (!larger.keys || !larger.numbers) {
		tp_pairs_free(&larger);
		return false;
	}
	for (size_t i = 0; i < old; i++) {
		size_t at;

		if (!pairs->numbers[i])
			continue;
		at = slot_of(&larger, pairs->keys[i]);
		larger.keys[at] = pairs->keys[i];
		larger.numbers[at] = pairs->numbers[i];
	}
	tp_pairs_free(pairs);
	*pairs = larger;
	return true;
}

uint32_t tp_pairs_find(const struct tp_pairs *pairs, uint32_t a, uint32_t b)
{
	return pairs->bits ? pairs->numbers[slot_of(pairs, (uint64_t)a << 32 | b)] : 0;
}

bool tp_pairs_set(struct tp_pairs *pairs, uint32_t a, uint32_t b, uint32_t number)
{
	size_t at;

	if ((!pairs->bits || pairs->count >= (size_t)1 << (pairs->bits - 1)) && !grow(pairs))
		return false;
	at = slot_of(pairs, (uint64_t)a << 32 | b);
	pairs->count += !pairs->numbers[at];
	pairs->keys[at] = (uint64_t)a << 32 | b;
	pairs->numbers[at] = number;
	return true;
}
