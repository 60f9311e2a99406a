/* SPDX-License-Identifier: Apache-2.0 */
#include "export/frames.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

void tpa_frames_init(struct tpa_frame_table *frames)
{
	*frames = (struct tpa_frame_table){ .arena = tpa_arena_new() };
}

void tpa_frames_free(struct tpa_frame_table *frames)
{
	tpa_arena_free(frames->arena);
	tpa_pairs_free(&frames->places);
	tpa_pairs_free(&frames->texts);
	free(frames->list);
}

/* The number of a text, whose strings are interned: their addresses tell them apart. */
static uint32_t number_of(struct tpa_frame_table *frames, const struct tpa_frame_text *text)
{
	char key[128];
	uint32_t *number;
	bool found;

	snprintf(key, sizeof(key), "%p %p %p %d %d", (const void *)text->name, (const void *)text->file,
		 (const void *)text->module, text->line, text->python);
	number = tpa_pairs_at(&frames->texts, (uintptr_t)tpa_arena_intern(frames->arena, key), 0, &found);
	if (!found) {
		*number = (uint32_t)frames->count;
		*TPA_APPEND(frames->list, frames->count, frames->room) = *text;
	}
	return *number;
}

uint32_t tpa_frames_line(struct tpa_frame_table *frames, size_t which, const struct tpa_line *line)
{
	struct tpa_frame_text text = { .line = line->location->line, .python = line->location->python };
	char unnamed[300];
	uint32_t *place;
	bool found;

	/* Of a place without a name nothing is known but its module. */
	place = tpa_pairs_at(&frames->places, which,
			     line->location->number ? (uintptr_t)line->location : (uintptr_t)line->symbol, &found);
	if (found)
		return *place;
	snprintf(unnamed, sizeof(unnamed), "[%.290s]", *line->symbol->module ? line->symbol->module : "unknown");
	text.name = tpa_arena_intern(frames->arena, line->location->function ? line->location->function : unnamed);
	text.file = tpa_arena_intern(frames->arena, line->location->file);
	text.module = tpa_arena_intern(frames->arena, line->symbol->module);
	text.loaded = line->module;
	text.address = line->module ? line->address - line->module->bias : line->address;
	*place = number_of(frames, &text);
	return *place;
}

uint32_t tpa_frames_op(struct tpa_frame_table *frames, const char *name)
{
	return number_of(frames, &(struct tpa_frame_text){ .name = tpa_arena_intern(frames->arena, name) });
}
