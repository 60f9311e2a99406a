/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json/json_value.h"
#include "base/memory.h"

json_t *tpa_json_frame(const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	json_t *json = json_object();
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
	tpa_json_set(json, "function", tpa_json_string(location->function));
	tpa_json_set(json, "file", tpa_json_string(location->file));
	tpa_json_set(json, "line", location->line ? json_integer(location->line) : json_null());
	tpa_json_set(json, "module", line->symbol->module[0] ? tpa_json_string(line->symbol->module) : json_null());
	tpa_json_set(json, "address", json_string(address));
	tpa_json_set(json, "inlined", json_boolean(location->inlined));
	tpa_json_set(json, "guessed", json_boolean(line->guessed));
	tpa_json_set(json, "language", json_string(location->python ? "python" : "native"));
	return json;
}

/* A new reference to the cached frame. */
static json_t *kept_frame(struct tpa_json_frames *frames, const struct tpa_line *line)
{
	bool found;
	uint32_t *number =
		tpa_pairs_at(&frames->numbers, (uintptr_t)line->location, line->address << 1 | line->guessed, &found);

	if (!found) {
		tpa_grow(&frames->list, &frames->room, frames->count + 1, sizeof(*frames->list));
		*number = (uint32_t)frames->count;
		frames->list[frames->count++] = tpa_json_frame(line);
	}
	return json_incref(frames->list[*number]);
}

void tpa_json_frames_free(struct tpa_json_frames *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		json_decref(frames->list[i]);
	free(frames->list);
	tpa_pairs_free(&frames->numbers);
	*frames = (struct tpa_json_frames){ 0 };
}

json_t *tpa_json_stack(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node,
		       struct tpa_json_frames *frames, json_int_t *own)
{
	struct tpa_stack stack = { NULL };
	json_t *list = json_array();
	const struct tpa_line *line;

	tpa_stack_read(&stack, trace, symbols, node);
	line = tpa_stack_own(&stack);
	for (size_t i = 0; i < stack.count; i++)
		json_array_append_new(list,
				      frames ? kept_frame(frames, &stack.lines[i]) : tpa_json_frame(&stack.lines[i]));
	*own = line ? line - stack.lines : -1;
	tpa_stack_free(&stack);
	return list;
}
