/* SPDX-License-Identifier: Apache-2.0 */
#include "compact/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Place 1 is the last that was freed. */
static unsigned slot_of(const struct tpa_freed *freed, uint64_t place)
{
	return (unsigned)(freed->next - place) % TPA_FREED;
}

unsigned tpa_addresses_place(const struct tpa_addresses *addresses, unsigned size, uint64_t address)
{
	const struct tpa_freed *freed = &addresses->freed[size];

	for (unsigned place = 1; place <= freed->count; place++)
		if (freed->list[slot_of(freed, place)] == address)
			return place;
	return 0;
}

bool tpa_addresses_reuse(struct tpa_addresses *addresses, unsigned size, uint64_t place, uint64_t *address)
{
	struct tpa_freed *freed = &addresses->freed[size];

	if (!place || place > freed->count)
		return false;
	*address = freed->list[slot_of(freed, place)];
	for (; place > 1; place--)
		freed->list[slot_of(freed, place)] = freed->list[slot_of(freed, place - 1)];
	freed->next = (uint8_t)slot_of(freed, 1);
	freed->count--;
	return true;
}

void tpa_addresses_allocate(struct tpa_addresses *addresses, unsigned size, uint64_t address, bool encoding)
{
	tpa_grow(&addresses->allocated, &addresses->room, addresses->count + 1, sizeof(*addresses->allocated));
	addresses->allocated[addresses->count].address = address;
	addresses->allocated[addresses->count++].size = size;
	if (encoding)
		tpa_pairs_set(&addresses->numbers, address, 0, (uint32_t)addresses->count);
}

uint64_t tpa_addresses_age(const struct tpa_addresses *addresses, uint64_t address)
{
	uint32_t number = tpa_pairs_find(&addresses->numbers, address, 0);

	return number ? addresses->count + 1 - number : 0;
}

bool tpa_addresses_free(struct tpa_addresses *addresses, uint64_t age, uint64_t *address)
{
	size_t number;
	struct tpa_freed *freed;

	if (!age || age > addresses->count)
		return false;
	number = addresses->count - age;
	*address = addresses->allocated[number].address;
	freed = &addresses->freed[addresses->allocated[number].size];
	freed->list[freed->next] = *address;
	freed->next = (freed->next + 1) % TPA_FREED;
	if (freed->count < TPA_FREED)
		freed->count++;
	return true;
}

void tpa_addresses_restart(struct tpa_addresses *addresses)
{
	memset(addresses->recent, 0, sizeof(addresses->recent));
	addresses->last = 0;
}

void tpa_addresses_release(struct tpa_addresses *addresses)
{
	free(addresses->allocated);
	tpa_pairs_free(&addresses->numbers);
}
