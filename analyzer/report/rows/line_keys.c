/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/line_keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Identifies a place without a name by its offset in its module, which is the same in every process. */
static uint64_t offset_of(const struct tpa_line *line)
{
	return line->module ? line->address - line->module->bias : line->address;
}

static char *print_key(const struct tpa_line *line, enum tpa_key kind)
{
	const struct tpa_location *location = line->location;
	const char *function = location->function ? location->function : "";
	const char *file = location->file ? location->file : "";
	bool named = location->function || location->file;

	switch (kind) {
	case TPA_KEY_FUNCTION:
		return tpa_format("%s\n%s", function, line->symbol->path);
	case TPA_KEY_PLACE:
		if (location->file)
			return tpa_format("%s\n%d", file, location->line);
		return tpa_format("%s\n%s", function, line->symbol->path);
	case TPA_KEY_MODULE:
		return tpa_strdup(line->symbol->path);
	default:
		return tpa_format("%s\n%s\n%d\n%s\n%" PRIx64, function, file, location->line, line->symbol->path,
				  named ? 0 : offset_of(line));
	}
}

static const char *make_key(struct tpa_keys *keys, const struct tpa_line *line, enum tpa_key kind)
{
	char *text = print_key(line, kind);
	const char *key = tpa_arena_intern(keys->arena, text);

	free(text);
	return key;
}

void tpa_keys_init(struct tpa_keys *keys)
{
	*keys = (struct tpa_keys){ .arena = tpa_arena_new() };
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
	bool found;
	uint32_t *index = tpa_pairs_at(&keys->known, (uintptr_t)line->location, kind, &found);

	if (!found) {
		tpa_grow((void *)&keys->list, &keys->capacity, keys->count + 1, sizeof(*keys->list));
		*index = (uint32_t)keys->count;
		keys->list[keys->count++] = make_key(keys, line, kind);
	}
	return keys->list[*index];
}
