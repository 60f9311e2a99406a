/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/resident.h"

#include <stdlib.h>

#include "base/archive.h"
#include "trace/number_archive.h"

const char *tp_makeup_path(const struct tp_trace *trace, const struct tp_makeup_owner *owner)
{
	if (owner->module && owner->module <= trace->module_count)
		return trace->modules[owner->module - 1].path;
	return owner->file && owner->file < trace->file_count ? trace->files[owner->file] : NULL;
}

const char *tp_makeup_key(enum tp_makeup_part part)
{
	static const char *const keys[TP_MAKEUP_PARTS] = {
		[TP_MAKEUP_HEAP] = "heap",     [TP_MAKEUP_MAPPED] = "mapped",
		[TP_MAKEUP_UNSEEN] = "unseen", [TP_MAKEUP_STATIC] = "static",
		[TP_MAKEUP_FILES] = "files",   [TP_MAKEUP_SHARED] = "shared_memory",
		[TP_MAKEUP_STACKS] = "stacks", [TP_MAKEUP_COLLECTOR] = "collector",
		[TP_MAKEUP_OTHER] = "other",
	};

	return keys[part];
}

bool tp_makeup_at(const struct tp_makeup *makeup, uint64_t time, enum tp_makeup_part part, double *bytes)
{
	const struct tp_makeup_sample *before = NULL, *after = &makeup->end.sample;
	size_t low = 0, high = makeup->count;

	if (!makeup->readings)
		return false;
	while (low < high) { /* the first one that is later */
		size_t middle = low + (high - low) / 2;

		if (makeup->list[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		before = &makeup->list[low - 1];
	if (low < makeup->count)
		after = &makeup->list[low];
	if (!before || after->time <= time) {
		*bytes = (double)after->parts[part];
		return true;
	}
	*bytes = (double)before->parts[part] + ((double)after->parts[part] - (double)before->parts[part]) *
						       (double)(time - before->time) /
						       (double)(after->time - before->time);
	return true;
}

void tp_makeup_free(struct tp_makeup *makeup)
{
	free(makeup->peak.owners);
	free(makeup->end.owners);
	free(makeup->list);
}

void tp_makeup_state_free(struct tp_makeup_state *state)
{
	tp_makeup_free(&state->result);
	free(state->list);
}

static void archive_moment(struct tp_archive *archive, struct tp_makeup_moment *moment)
{
	TP_ARCHIVE(archive, moment->sample);
	tp_archive_array(archive, &moment->owners, &moment->count, &moment->room, sizeof(*moment->owners));
	for (size_t i = 0; i < moment->count; i++) {
		tp_archive_node(archive, &moment->owners[i].node);
		tp_archive_check(archive, moment->owners[i].part < TP_MAKEUP_PARTS, "a part of memory is out of range");
	}
}

void tp_makeup_archive(struct tp_archive *archive, struct tp_makeup_state *state)
{
	struct tp_makeup *makeup = &state->result;
	size_t room = TP_MAKEUP_SAMPLES;
	bool any = makeup->list != NULL;

	archive_moment(archive, &makeup->peak);
	archive_moment(archive, &makeup->end);
	TP_ARCHIVE(archive, makeup->readings);
	TP_ARCHIVE(archive, makeup->mask);
	TP_ARCHIVE(archive, makeup->pss_peak);
	TP_ARCHIVE(archive, makeup->judged);
	TP_ARCHIVE(archive, makeup->inherited);
	TP_ARCHIVE(archive, any);
	if (any)
		tp_archive_array(archive, &makeup->list, &makeup->count, &room, sizeof(*makeup->list));
	tp_archive_check(archive, makeup->count <= TP_MAKEUP_SAMPLES, "too many readings of memory");
	tp_archive_array(archive, &state->list, &state->count, &state->room, sizeof(*state->list));
	TP_ARCHIVE(archive, state->thread);
	TP_ARCHIVE(archive, state->looked);
	TP_ARCHIVE(archive, state->began);
}
