/* SPDX-License-Identifier: Apache-2.0 */
#include "model/holders/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PAGE 4096u

void tpa_holders_memory_init(struct tpa_holders_memory *memory, struct tpa_frozen *frozen)
{
	memory->frozen = frozen;
	memory->windows = tpa_zalloc(TPA_HOLDERS_WINDOWS, TPA_HOLDERS_WINDOW);
	memory->places = tpa_zalloc(TPA_HOLDERS_WINDOWS, sizeof(*memory->places));
}

void tpa_holders_memory_free(struct tpa_holders_memory *memory)
{
	free(memory->windows);
	free(memory->places);
}

/* A fork does not copy pages of a file that nobody wrote to, but they can be read all the same. */
static size_t fill_part(struct tpa_holders_memory *memory, uint64_t address, char *to, size_t size)
{
	const struct tpa_frozen_map *map = tpa_frozen_find(memory->frozen, address);

	if (!map)
		return 0;
	if (size > map->high - address)
		size = (size_t)(map->high - address);
	if (!map->anonymous && !map->shared && !map->device && map->readable && !map->of_parent)
		return tpa_frozen_copy(memory->frozen, address, to, size);
	return tpa_frozen_read(memory->frozen, address, to, size);
}

static void fill(struct tpa_holders_memory *memory, uint64_t address, char *window)
{
	size_t at = 0;

	memset(window, 0, TPA_HOLDERS_WINDOW);
	while (at < TPA_HOLDERS_WINDOW) {
		size_t got = fill_part(memory, address + at, window + at, TPA_HOLDERS_WINDOW - at);

		at = got ? at + got : (at / PAGE + 1) * PAGE; /* skip a missing page */
	}
}

static const char *window_of(struct tpa_holders_memory *memory, uint64_t address)
{
	uint64_t number = address / TPA_HOLDERS_WINDOW;
	size_t slot = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % TPA_HOLDERS_WINDOWS;
	char *window = memory->windows + slot * TPA_HOLDERS_WINDOW;

	if (memory->places[slot] != number * TPA_HOLDERS_WINDOW + 1) {
		fill(memory, number * TPA_HOLDERS_WINDOW, window);
		memory->places[slot] = number * TPA_HOLDERS_WINDOW + 1;
	}
	return window + address % TPA_HOLDERS_WINDOW;
}

void tpa_holders_copy(struct tpa_holders_memory *memory, uint64_t address, void *to, size_t size)
{
	char *bytes = to;

	while (size) {
		size_t part = TPA_HOLDERS_WINDOW - address % TPA_HOLDERS_WINDOW;

		part = part < size ? part : size;
		memcpy(bytes, window_of(memory, address), part);
		bytes += part, address += part, size -= part;
	}
}

uint64_t tpa_holders_word(struct tpa_holders_memory *memory, uint64_t address)
{
	uint64_t word;

	tpa_holders_copy(memory, address, &word, sizeof(word));
	return word;
}

bool tpa_holders_text(struct tpa_holders_memory *memory, uint64_t address, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		tpa_holders_copy(memory, address + i, &text[i], 1);
		if (!text[i])
			return i > 0;
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	}
	return false;
}

bool tpa_holders_in_file(const struct tpa_holders_memory *memory, uint64_t address)
{
	const struct tpa_frozen_map *map = tpa_frozen_find(memory->frozen, address);

	return map && !map->shared && !map->device && map->readable && map->path[0] == '/';
}
