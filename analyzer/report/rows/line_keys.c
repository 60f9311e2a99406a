/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/line_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place without a name: its offset in its module, which is the same in every process. */
static uint64_t offset_of(const struct tpa_line *line)
{
	return line->module ? line->address - line->module->bias : line->address;
}

static int print_key(char **text, const struct tpa_line *line, enum tpa_key kind)
{
	const struct tpa_location *location = line->location;
	const char *function = location->function ? location->function : "";
	const char *file = location->file ? location->file : "";
	bool named = location->function || location->file;

	switch (kind) {
	case TPA_KEY_FUNCTION:
		return asprintf(text, "%s\n%s", function, line->symbol->path);
	case TPA_KEY_PLACE:
		if (location->file)
			return asprintf(text, "%s\n%d", file, location->line);
		return asprintf(text, "%s\n%s", function, line->symbol->path);
	case TPA_KEY_MODULE:
		return asprintf(text, "%s", line->symbol->path);
	default:
		return asprintf(text, "%s\n%s\n%d\n%s\n%" PRIx64, function, file, location->line, line->symbol->path,
				named ? 0 : offset_of(line));
	}
}

static const char *make_key(struct tpa_keys *keys, const struct tpa_line *line, enum tpa_key kind)
{
	const char *key;
	char *text;

	if (print_key(&text, line, kind) < 0)
		return NULL;
	key = tpa_arena_intern(keys->arena, text);
	free(text);
	return key;
}

bool tpa_keys_init(struct tpa_keys *keys)
{
	memset(keys, 0, sizeof(*keys));
	keys->arena = tpa_arena_new();
	return keys->arena != NULL;
}

void tpa_keys_free(struct tpa_keys *keys)
{
	tpa_arena_free(keys->arena);
	tpa_pairs_free(&keys->known);
	free(keys->list);
	memset(keys, 0, sizeof(*keys));
}

const char *tpa_keys_get(struct tpa_keys *keys, const struct tpa_line *line, enum tpa_key kind)
{
	bool found = false;
	uint32_t *index;

	if (keys->count == keys->capacity) {
		size_t capacity = keys->capacity ? 2 * keys->capacity : 1024;
		const char **list = realloc(keys->list, capacity * sizeof(*list));

		if (!list)
			return NULL;
		keys->list = list;
		keys->capacity = capacity;
	}
	index = tpa_pairs_at(&keys->known, (uintptr_t)line->location, kind, &found);
	if (!index)
		return NULL;
	if (!found) {
		*index = (uint32_t)keys->count;
		keys->list[keys->count++] = make_key(keys, line, kind);
	}
	return keys->list[*index];
}
