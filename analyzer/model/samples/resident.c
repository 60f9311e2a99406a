/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/resident.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/order.h"
#include "trace/number_archive.h"

const char *tpa_makeup_path(const struct tpa_trace *trace, const struct tpa_makeup_owner *owner)
{
	if (owner->module && owner->module <= trace->module_count)
		return trace->modules[owner->module - 1].path;
	return owner->file && owner->file < trace->file_count ? trace->files[owner->file] : NULL;
}

const char *tpa_makeup_key(enum tpa_makeup_part part)
{
	static const char *const keys[TPA_MAKEUP_PARTS] = {
		[TPA_MAKEUP_HEAP] = "heap",	[TPA_MAKEUP_MAPPED] = "mapped",
		[TPA_MAKEUP_UNSEEN] = "unseen", [TPA_MAKEUP_STATIC] = "static",
		[TPA_MAKEUP_FILES] = "files",	[TPA_MAKEUP_SHARED] = "shared_memory",
		[TPA_MAKEUP_STACKS] = "stacks", [TPA_MAKEUP_COLLECTOR] = "collector",
		[TPA_MAKEUP_OTHER] = "other",
	};

	return keys[part];
}

size_t tpa_makeup_reading(const struct tpa_makeup *makeup, uint64_t time)
{
	return TPA_UP_TO(makeup->list, makeup->count, time, time);
}

bool tpa_makeup_at(const struct tpa_makeup *makeup, uint64_t time, enum tpa_makeup_part part, double *bytes)
{
	const struct tpa_makeup_sample *before = NULL, *after = &makeup->end.sample;
	size_t later = tpa_makeup_reading(makeup, time);

	if (!makeup->readings)
		return false;
	if (later > 0)
		before = &makeup->list[later - 1];
	if (later < makeup->count)
		after = &makeup->list[later];
	if (!before || after->time <= time) {
		*bytes = (double)after->parts[part];
		return true;
	}
	*bytes = (double)before->parts[part] + ((double)after->parts[part] - (double)before->parts[part]) *
						       (double)(time - before->time) /
						       (double)(after->time - before->time);
	return true;
}

void tpa_makeup_free(struct tpa_makeup *makeup)
{
	free(makeup->peak.owners);
	free(makeup->end.owners);
	free(makeup->list);
}

void tpa_makeup_state_free(struct tpa_makeup_state *state)
{
	tpa_makeup_free(&state->result);
	free(state->list);
}

static void archive_moment(struct tpa_archive *archive, struct tpa_makeup_moment *moment)
{
	TPA_ARCHIVE(archive, moment->sample);
	tpa_archive_array(archive, &moment->owners, &moment->count, &moment->room, sizeof(*moment->owners));
	for (size_t i = 0; i < moment->count; i++) {
		tpa_archive_node(archive, &moment->owners[i].node);
		tpa_archive_check(archive, moment->owners[i].part < TPA_MAKEUP_PARTS,
				  "a part of memory is out of range");
	}
}

void tpa_makeup_archive(struct tpa_archive *archive, struct tpa_makeup_state *state)
{
	struct tpa_makeup *makeup = &state->result;
	size_t room = TPA_MAKEUP_SAMPLES;
	bool any = makeup->list != NULL;

	archive_moment(archive, &makeup->peak);
	archive_moment(archive, &makeup->end);
	TPA_ARCHIVE(archive, makeup->readings);
	TPA_ARCHIVE(archive, makeup->mask);
	TPA_ARCHIVE(archive, makeup->pss_peak);
	TPA_ARCHIVE(archive, makeup->judged);
	TPA_ARCHIVE(archive, makeup->inherited);
	TPA_ARCHIVE(archive, any);
	if (any)
		tpa_archive_array(archive, &makeup->list, &makeup->count, &room, sizeof(*makeup->list));
	tpa_archive_check(archive, makeup->count <= TPA_MAKEUP_SAMPLES, "too many readings of memory");
	tpa_archive_array(archive, &state->list, &state->count, &state->room, sizeof(*state->list));
	TPA_ARCHIVE(archive, state->thread);
	TPA_ARCHIVE(archive, state->looked);
	TPA_ARCHIVE(archive, state->began);
}
