/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing. The largest tables map millions of pairs of node numbers: slots take 12 bytes as long as all numbers of a table
 * are below 2^32 - 1, else 24.
 */
#include "base/pairs.h"

#include <stdlib.h>

#include "base/aside.h"
#include "base/memory.h"

struct narrow {
	uint32_t a, b, number; /* a: plus 1; 0: the slot is free */
};

struct wide {
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

static bool is_narrow(uint64_t a, uint64_t b)
{
	return a < UINT32_MAX && b <= UINT32_MAX;
}

/* Returns the slot of the pair, or the free slot where it belongs. */
static struct narrow *find_narrow(struct narrow *slots, size_t capacity, uint32_t a, uint32_t b)
{
	size_t i = hash(a, b) & (capacity - 1);

	while (slots[i].a && (slots[i].a != a + 1 || slots[i].b != b))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static struct wide *find_wide(struct wide *slots, size_t capacity, uint64_t a, uint64_t b)
{
	size_t i = hash(a, b) & (capacity - 1);

	while (slots[i].taken && (slots[i].a != a || slots[i].b != b))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static void *grown_narrow(const struct tpa_pairs *pairs, size_t capacity)
{
	struct narrow *slots = tpa_zalloc(capacity, sizeof(*slots));
	const struct narrow *from = pairs->slots;

	for (size_t i = 0; i < pairs->capacity; i++)
		if (from[i].a)
			*find_narrow(slots, capacity, from[i].a - 1, from[i].b) = from[i];
	return slots;
}

static struct wide widened(const struct narrow *slot)
{
	return (struct wide){ slot->a - 1u, slot->b, slot->number, slot->a != 0 };
}

static void *grown_wide(const struct tpa_pairs *pairs, size_t capacity)
{
	struct wide *slots = tpa_zalloc(capacity, sizeof(*slots));
	const struct narrow *narrow = pairs->slots;
	const struct wide *wide = pairs->slots;

	for (size_t i = 0; i < pairs->capacity; i++) {
		struct wide slot = pairs->wide ? wide[i] : widened(&narrow[i]);

		if (slot.taken)
			*find_wide(slots, capacity, slot.a, slot.b) = slot;
	}
	return slots;
}

static bool is_full(const struct tpa_pairs *pairs)
{
	return 2 * pairs->count >= pairs->capacity;
}

static void grow(struct tpa_pairs *pairs, bool wide)
{
	size_t capacity = !pairs->capacity ? 256 : is_full(pairs) ? 2 * pairs->capacity : pairs->capacity;
	void *slots = wide ? grown_wide(pairs, capacity) : grown_narrow(pairs, capacity);

	free(pairs->slots);
	pairs->slots = slots;
	pairs->capacity = capacity;
	pairs->wide = wide;
}

static uint32_t *at_narrow(struct tpa_pairs *pairs, uint32_t a, uint32_t b, bool *found)
{
	struct narrow *slot = find_narrow(pairs->slots, pairs->capacity, a, b);

	*found = slot->a != 0;
	if (!slot->a) {
		*slot = (struct narrow){ a + 1, b, 0 };
		pairs->count++;
	}
	return &slot->number;
}

static uint32_t *at_wide(struct tpa_pairs *pairs, uint64_t a, uint64_t b, bool *found)
{
	struct wide *slot = find_wide(pairs->slots, pairs->capacity, a, b);

	*found = slot->taken;
	if (!slot->taken) {
		*slot = (struct wide){ .a = a, .b = b, .taken = true };
		pairs->count++;
	}
	return &slot->number;
}

uint32_t *tpa_pairs_at(struct tpa_pairs *pairs, uint64_t a, uint64_t b, bool *found)
{
	bool wide = pairs->wide || !is_narrow(a, b);

	if (is_full(pairs) || wide != pairs->wide)
		grow(pairs, wide);
	return wide ? at_wide(pairs, a, b, found) : at_narrow(pairs, (uint32_t)a, (uint32_t)b, found);
}

uint32_t tpa_pairs_find(const struct tpa_pairs *pairs, uint64_t a, uint64_t b)
{
	if (!pairs->capacity)
		return 0;
	if (pairs->wide)
		return find_wide(pairs->slots, pairs->capacity, a, b)->number;
	return is_narrow(a, b) ? find_narrow(pairs->slots, pairs->capacity, (uint32_t)a, (uint32_t)b)->number : 0;
}

void tpa_pairs_set(struct tpa_pairs *pairs, uint64_t a, uint64_t b, uint32_t number)
{
	bool found;

	*tpa_pairs_at(pairs, a, b, &found) = number;
}

void tpa_pairs_lay_aside(struct tpa_pairs *pairs)
{
	if (pairs->slots)
		tpa_lay_aside(&pairs->slots,
			      pairs->capacity * (pairs->wide ? sizeof(struct wide) : sizeof(struct narrow)));
}

void tpa_pairs_free(struct tpa_pairs *pairs)
{
	free(pairs->slots);
	*pairs = (struct tpa_pairs){ 0 };
}
