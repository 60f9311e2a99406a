/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json/json_value.h"
#include "base/reserve.h"

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

json_t *tpa_json_frame(const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	json_t *json = json_object();
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
	set(json, "function", tpa_json_string(location->function));
	set(json, "file", tpa_json_string(location->file));
	set(json, "line", location->line ? json_integer(location->line) : json_null());
	set(json, "module", line->symbol->module[0] ? tpa_json_string(line->symbol->module) : json_null());
	set(json, "address", json_string(address));
	set(json, "inlined", json_boolean(location->inlined));
	set(json, "language", json_string(location->python ? "python" : "native"));
	return json;
}

/* A new reference to the frame that is kept. Where there is no memory to keep it, to one that is not. */
static json_t *kept_frame(struct tpa_json_frames *frames, const struct tpa_line *line)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&frames->numbers, (uintptr_t)line->location, line->address, &found);
	json_t *json;

	if (number && *number)
		return json_incref(frames->list[*number - 1]);
	json = tpa_json_frame(line);
	if (number && json && tpa_reserve(&frames->list, &frames->room, frames->count + 1, sizeof(*frames->list))) {
		frames->list[frames->count++] = json_incref(json);
		*number = (uint32_t)frames->count;
	}
	return json;
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
		json_array_append_new(list, frames ? kept_frame(frames, &stack.lines[i]) : tpa_json_frame(&stack.lines[i]));
	*own = line ? line - stack.lines : -1;
	tpa_stack_free(&stack);
	return list;
}
