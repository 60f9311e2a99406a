/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

#define BLOCK ((size_t)256 << 10)

struct block {
	struct block *next;
	_Alignas(16) char data[];
};

struct tpa_arena {
	struct block *blocks;
	size_t used, size;    /* bytes of the newest block, which is first in the list */
	const char **strings; /* hash table with open addressing: a power of two of slots, at most half of them used */
	size_t string_count, string_slots;
};

struct tpa_arena *tpa_arena_new(void)
{
	return tpa_zalloc(1, sizeof(struct tpa_arena));
}

void tpa_arena_free(struct tpa_arena *arena)
{
	struct block *next;

	if (!arena)
		return;
	for (struct block *block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(arena->strings);
	free(arena);
}

void *tpa_arena_alloc(struct tpa_arena *arena, size_t size)
{
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (!arena->blocks || arena->size - arena->used < size) {
		size_t want = size > BLOCK ? size : BLOCK;
		struct block *block = tpa_zalloc(1, sizeof(*block) + want);

		block->next = arena->blocks;
		arena->blocks = block;
		arena->used = 0;
		arena->size = want;
	}
	memory = arena->blocks->data + arena->used;
	arena->used += size;
	return memory;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = tpa_hash_text(TPA_HASH_BEGIN, text);

	return hash ^ (hash >> 29);
}

static const char **find_slot(const char **strings, size_t slots, const char *text)
{
	size_t slot = (size_t)hash_text(text) & (slots - 1);

	while (strings[slot] && strcmp(strings[slot], text) != 0)
		slot = (slot + 1) & (slots - 1);
	return &strings[slot];
}

static void grow(struct tpa_arena *arena)
{
	size_t slots = arena->string_slots ? 2 * arena->string_slots : 1024;
	const char **strings = tpa_zalloc(slots, sizeof(*strings));

	for (size_t i = 0; i < arena->string_slots; i++)
		if (arena->strings[i])
			*find_slot(strings, slots, arena->strings[i]) = arena->strings[i];
	free(arena->strings);
	arena->strings = strings;
	arena->string_slots = slots;
}

const char *tpa_arena_intern(struct tpa_arena *arena, const char *text)
{
	const char **slot;
	char *copy;
	size_t size;

	if (!text)
		return NULL;
	if (2 * arena->string_count >= arena->string_slots)
		grow(arena);
	slot = find_slot(arena->strings, arena->string_slots, text);
	if (*slot)
		return *slot;
	size = strlen(text) + 1;
	copy = tpa_arena_alloc(arena, size);
	memcpy(copy, text, size);
	arena->string_count++;
	*slot = copy;
	return copy;
}
