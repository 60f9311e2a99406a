/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "trace/impl.h"

/* reports list a few; a bound, so that a broken file does not take memory */
#define DAMAGE_MAX 256

void tpa_damage_add(struct tpa_trace *trace, uint64_t offset, uint64_t lost_bytes, const char *reason)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	size_t i;

	for (i = 0; i < trace->damage_count; i++)
		if (trace->damage[i].offset == offset && strcmp(trace->damage[i].reason, reason) == 0) {
			if (trace->damage[i].lost_bytes < lost_bytes) /* the chunk has grown */
				trace->damage[i].lost_bytes = lost_bytes;
			return;
		}
	if (trace->damage_count == DAMAGE_MAX) {
		struct tpa_damage *last = &trace->damage[DAMAGE_MAX - 1];

		last->lost_bytes += lost_bytes;
		last->reason = "more damage follows";
		return;
	}
	*TPA_APPEND(trace->damage, trace->damage_count, impl->damage_room) =
		(struct tpa_damage){ offset, lost_bytes, reason };
}

void tpa_damage_note(struct tpa_trace *trace, uint64_t offset, const char *reason)
{
	tpa_damage_add(trace, offset, 0, reason);
}

static void load_one(struct tpa_archive *archive, struct tpa_trace *trace)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	struct tpa_damage damage = { 0 };
	char *reason = NULL;

	TPA_ARCHIVE(archive, damage.offset);
	TPA_ARCHIVE(archive, damage.lost_bytes);
	tpa_archive_text(archive, &reason);
	if (!tpa_archive_check(archive, reason != NULL, "damage has no reason") || !reason)
		return;
	*TPA_APPEND(impl->reasons, impl->reason_count, impl->reason_room) = reason;
	tpa_damage_add(trace, damage.offset, damage.lost_bytes, reason);
}

void tpa_damage_archive(struct tpa_archive *archive, struct tpa_trace *trace)
{
	size_t first = tpa_impl(trace)->opening_damage, count = trace->damage_count - first;

	TPA_ARCHIVE(archive, count);
	tpa_archive_check(archive, count <= DAMAGE_MAX, "too much damage");
	for (size_t i = first; i < first + count && !archive->failed; i++) {
		char *reason;

		if (archive->loading) {
			load_one(archive, trace);
			continue;
		}
		reason = (char *)(uintptr_t)trace->damage[i].reason;
		TPA_ARCHIVE(archive, trace->damage[i].offset);
		TPA_ARCHIVE(archive, trace->damage[i].lost_bytes);
		tpa_archive_text(archive, &reason);
	}
}
