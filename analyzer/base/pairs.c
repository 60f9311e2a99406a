/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pairs.h"

#include <stdlib.h>

#include "base/memory.h"

struct tpa_pair_slot {
	uint64_t a, b;
	uint32_t number;
	bool taken;
};

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x7f4a7c159e3779b9));

	h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return (size_t)(h ^ (h >> 32));
}

/* Returns the slot of the pair, or the free slot where it belongs. */
static struct tpa_pair_slot *find(struct tpa_pair_slot *slots, size_t capacity, uint64_t a, uint64_t b)
{
	size_t i = hash(a, b) & (capacity - 1);

	while (slots[i].taken && (slots[i].a != a || slots[i].b != b))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static void grow(struct tpa_pairs *pairs)
{
	size_t capacity = pairs->capacity ? 2 * pairs->capacity : 256;
	struct tpa_pair_slot *slots = tpa_zalloc(capacity, sizeof(*slots));

	for (size_t i = 0; i < pairs->capacity; i++)
		if (pairs->slots[i].taken)
			*find(slots, capacity, pairs->slots[i].a, pairs->slots[i].b) = pairs->slots[i];
	free(pairs->slots);
	pairs->slots = slots;
	pairs->capacity = capacity;
}

uint32_t *tpa_pairs_at(struct tpa_pairs *pairs, uint64_t a, uint64_t b, bool *found)
{
	struct tpa_pair_slot *slot;

	if (2 * pairs->count >= pairs->capacity)
		grow(pairs);
	slot = find(pairs->slots, pairs->capacity, a, b);
	*found = slot->taken;
	if (!slot->taken) {
		*slot = (struct tpa_pair_slot){ .a = a, .b = b, .taken = true };
		pairs->count++;
	}
	return &slot->number;
}

uint32_t tpa_pairs_find(const struct tpa_pairs *pairs, uint64_t a, uint64_t b)
{
	return pairs->capacity ? find(pairs->slots, pairs->capacity, a, b)->number : 0;
}

void tpa_pairs_set(struct tpa_pairs *pairs, uint64_t a, uint64_t b, uint32_t number)
{
	bool found;

	*tpa_pairs_at(pairs, a, b, &found) = number;
}

void tpa_pairs_free(struct tpa_pairs *pairs)
{
	free(pairs->slots);
	*pairs = (struct tpa_pairs){ 0 };
}
