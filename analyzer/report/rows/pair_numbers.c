/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/pair_numbers.h"

#include <stdlib.h>
#include <string.h>

struct tp_map_slot {
	uint64_t a, b;
	uint32_t value;
	bool taken;
};

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x7f4a7c159e3779b9));

	h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return (size_t)(h ^ (h >> 32));
}

static struct tp_map_slot *find(struct tp_map_slot *slots, size_t capacity, uint64_t a, uint64_t b)
{
	size_t i = hash(a, b) & (capacity - 1);

	while (slots[i].taken && (slots[i].a != a || slots[i].b != b))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool grow(struct tp_map *map)
{
	size_t capacity = map->capacity ? 2 * map->capacity : 256;
	struct tp_map_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].taken)
			*find(slots, capacity, map->slots[i].a, map->slots[i].b) = map->slots[i];
	free(map->slots);
	map->slots = slots;
	map->capacity = capacity;
	return true;
}

uint32_t *tp_map_at(struct tp_map *map, uint64_t a, uint64_t b, bool *found)
{
	struct tp_map_slot *slot;

	if (2 * map->count >= map->capacity && !grow(map))
		return NULL;
	slot = find(map->slots, map->capacity, a, b);
	*found = slot->taken;
	if (!slot->taken) {
		*slot = (struct tp_map_slot){ .a = a, .b = b, .taken = true };
		map->count++;
	}
	return &slot->value;
}

void tp_map_free(struct tp_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
