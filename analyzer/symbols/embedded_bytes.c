/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/embedded_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/pairs.h"

struct list {
	uint8_t *list;
	size_t count, room;
};

struct tpa_embedded_bytes {
	struct list texts, rest;
	struct tpa_arena *arena;
	struct tpa_pairs numbers; /* of texts, from 1 on */
	uint32_t text_count;
	struct tpa_rename rename;
};

static void put_byte(struct list *bytes, unsigned byte)
{
	*TPA_APPEND(bytes->list, bytes->count, bytes->room) = (uint8_t)byte;
}

static void put(struct list *bytes, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put_byte(bytes, (unsigned)(value & 127) | 128);
	put_byte(bytes, (unsigned)value);
}

struct tpa_embedded_bytes *tpa_embedded_begin(const struct tpa_rename *rename)
{
	struct tpa_embedded_bytes *bytes = tpa_zalloc(1, sizeof(*bytes));

	bytes->arena = tpa_arena_new();
	if (rename)
		bytes->rename = *rename;
	return bytes;
}

void tpa_embedded_put_byte(struct tpa_embedded_bytes *bytes, unsigned byte)
{
	put_byte(&bytes->rest, byte);
}

void tpa_embedded_put(struct tpa_embedded_bytes *bytes, uint64_t value)
{
	put(&bytes->rest, value);
}

static const char *renamed(const struct tpa_embedded_bytes *bytes, const char *text)
{
	return text && bytes->rename.text ? bytes->rename.text(bytes->rename.context, text) : text;
}

static void put_text(struct tpa_embedded_bytes *bytes, const char *text)
{
	const char *own = tpa_arena_intern(bytes->arena, text);
	uint32_t *number;
	bool found;

	if (!text) {
		put(&bytes->rest, 0);
		return;
	}
	number = tpa_pairs_at(&bytes->numbers, (uintptr_t)own, 0, &found);
	if (!found) {
		*number = ++bytes->text_count;
		for (const char *c = own; *c; c++)
			put_byte(&bytes->texts, (uint8_t)*c);
		put_byte(&bytes->texts, 0);
	}
	put(&bytes->rest, *number);
}

void tpa_embedded_put_text(struct tpa_embedded_bytes *bytes, const char *text)
{
	put_text(bytes, renamed(bytes, text));
}

/* Its symbol says of a function's name as much as the name does. */
static void put_function(struct tpa_embedded_bytes *bytes, const char *function, const char *linkage)
{
	const char *now = renamed(bytes, function);

	put_text(bytes, now);
	put_text(bytes, now != function && linkage ? now : renamed(bytes, linkage));
}

void tpa_embedded_put_place(struct tpa_embedded_bytes *bytes, uint32_t module, uint64_t address, uint64_t before)
{
	uint64_t step = address - before;

	put(&bytes->rest, module);
	put(&bytes->rest, step << 1 ^ (0 - (step >> 63)));
}

void tpa_embedded_put_locations(struct tpa_embedded_bytes *bytes, const struct tpa_location *locations, size_t count)
{
	put(&bytes->rest, count);
	for (size_t i = 0; i < count; i++) {
		const struct tpa_location *location = &locations[i];

		put_function(bytes, location->function, location->linkage);
		tpa_embedded_put_text(bytes, location->file);
		put(&bytes->rest, (uint64_t)(location->line > 0 ? location->line : 0));
		put_byte(&bytes->rest, location->inlined);
	}
}

/* The texts come first. */
uint8_t *tpa_embedded_end(struct tpa_embedded_bytes *bytes, size_t *length)
{
	struct list all = { 0 }, *texts = &bytes->texts, *rest = &bytes->rest;

	put(&all, bytes->text_count);
	put(&all, texts->count);
	tpa_grow(&all.list, &all.room, all.count + texts->count + rest->count, 1);
	if (texts->count)
		memcpy(all.list + all.count, texts->list, texts->count);
	if (rest->count)
		memcpy(all.list + all.count + texts->count, rest->list, rest->count);
	*length = all.count + texts->count + rest->count;
	free(texts->list);
	free(rest->list);
	tpa_pairs_free(&bytes->numbers);
	tpa_arena_free(bytes->arena);
	free(bytes);
	return all.list;
}
