/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "compact/compact.h"
#include "compact/frames.h"
#include "compact/layout.h"

#define KEPT 3 /* groups that are kept decoded: threads are in chunks that were begun at about the same time */

struct group {
	uint32_t *chunks; /* their numbers */
	uint32_t count;
	uint64_t length; /* bytes of records of all */
};

struct kept {
	size_t group; /* + 1; 0: none */
	uint64_t used;
	uint8_t *records;
};

struct tpa_compact {
	struct tpa_frames frames;
	struct tpa_compact_first first;
	uint8_t *header;
	struct tpa_compact_chunk *chunks;
	uint64_t *places; /* of a chunk's records in its group's */
	uint32_t chunk_count;
	struct group *groups;
	uint32_t *members; /* the groups' lists */
	struct kept kept[KEPT];
	uint64_t uses;
	uint8_t *names;
};

bool tpa_compact_is(const struct tpa_part *file)
{
	struct tpa_compact_first first;

	return tpa_frames_first(file, &first, sizeof(first)) &&
	       memcmp(first.magic, TPA_COMPACT_MAGIC, sizeof(first.magic)) == 0;
}

static size_t at_most(uint64_t left, size_t size)
{
	return left < size ? (size_t)left : size;
}

/* ---- opening ---- */

static size_t header_bytes(const struct tpa_compact_first *first)
{
	return at_most(first->trace_bytes, first->header_size);
}

static uint64_t chunks_of(const struct tpa_compact_first *first)
{
	return first->trace_bytes <= first->header_size
		       ? 0
		       : (first->trace_bytes - first->header_size - 1) / first->chunk_size + 1;
}

static bool check_first(struct tpa_compact *compact, const char **reason)
{
	const struct tpa_compact_first *first = &compact->first;

	*reason = "a compact trace of another version, which this tprof-analyze can't read";
	if (first->version != TPA_COMPACT_VERSION)
		return false;
	*reason = "the sizes at its begin are impossible";
	return first->header_size && first->header_size <= (1u << 20) && first->chunk_size >= 4096 &&
	       first->chunk_size <= (64u << 20) && first->trace_bytes < (UINT64_C(1) << 62) &&
	       chunks_of(first) <= TPA_COMPACT_CHUNKS && first->names <= 1 &&
	       compact->frames.count == (uint64_t)TPA_FRAME_GROUPS + first->groups + first->names;
}

/* A frame that must have that length. NULL: it does not, or is damaged. */
static void *whole_frame(struct tpa_compact *compact, size_t number, uint64_t length)
{
	uint8_t *bytes;

	if (compact->frames.list[number].length != length)
		return NULL;
	bytes = tpa_zalloc(1, length + 1);
	if (tpa_frames_read(&compact->frames, number, bytes))
		return bytes;
	free(bytes);
	return NULL;
}

/* How many bytes of records a chunk may have: within the chunk and the trace. */
static uint64_t room_of(const struct tpa_compact_first *first, uint32_t number)
{
	uint64_t offset = first->header_size + (uint64_t)number * first->chunk_size, left = first->trace_bytes - offset;

	left = left < first->chunk_size ? left : first->chunk_size;
	return left > sizeof(struct tprof_chunk) ? left - sizeof(struct tprof_chunk) : 0;
}

static bool count_members(struct tpa_compact *compact)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < compact->chunk_count; i++) {
		const struct tpa_compact_chunk *chunk = &compact->chunks[i];
		struct group *group;

		if (chunk->group > compact->first.groups || chunk->length > room_of(&compact->first, i) ||
		    !chunk->group != !chunk->length)
			return false;
		if (!chunk->group)
			continue;
		group = &compact->groups[chunk->group - 1];
		compact->places[i] = group->length;
		group->length += chunk->length;
		group->count++;
		total += chunk->length;
	}
	return total <= TPA_COMPACT_RATIO * compact->frames.file.bytes + TPA_COMPACT_BASE;
}

/* Which chunks each group has. */
static bool find_members(struct tpa_compact *compact)
{
	uint32_t *next;

	compact->groups = tpa_zalloc(compact->first.groups, sizeof(*compact->groups));
	compact->places = tpa_zalloc(compact->chunk_count, sizeof(*compact->places));
	compact->members = next = tpa_zalloc(compact->chunk_count, sizeof(*compact->members));
	if (!count_members(compact))
		return false;
	for (uint32_t i = 0; i < compact->first.groups; i++) {
		struct group *group = &compact->groups[i];

		if (group->length > TPA_GROUP_BYTES && group->count > 1)
			return false;
		if (compact->frames.list[TPA_FRAME_GROUPS + i].length > tpa_group_limit(group->length, group->count))
			return false;
		group->chunks = next;
		next += group->count;
		group->count = 0;
	}
	for (uint32_t i = 0; i < compact->chunk_count; i++)
		if (compact->chunks[i].group) {
			struct group *group = &compact->groups[compact->chunks[i].group - 1];

			group->chunks[group->count++] = i;
		}
	return true;
}

static bool open_it(struct tpa_compact *compact, const struct tpa_part *file, const char **reason)
{
	struct tpa_compact_first *first = &compact->first;

	if (!tpa_frames_first(file, first, sizeof(*first)) || !tpa_frames_open(&compact->frames, file, reason) ||
	    !check_first(compact, reason))
		return false;
	compact->header = whole_frame(compact, TPA_FRAME_HEADER, header_bytes(first));
	*reason = "the frame with the trace's header is damaged";
	if (!compact->header)
		return false;
	compact->chunk_count = (uint32_t)chunks_of(first);
	compact->chunks =
		whole_frame(compact, TPA_FRAME_CHUNKS, compact->chunk_count * (uint64_t)sizeof(*compact->chunks));
	*reason = "the frame with the list of its chunks is damaged";
	return compact->chunks && find_members(compact);
}

size_t tpa_compact_header(const struct tpa_part *file, void *buffer, size_t size, uint64_t *bytes)
{
	struct tpa_compact compact = { 0 };
	struct tpa_compact_first *first = &compact.first;
	const char *reason;

	if (tpa_frames_first(file, first, sizeof(*first)) && tpa_frames_open(&compact.frames, file, &reason) &&
	    check_first(&compact, &reason))
		compact.header = whole_frame(&compact, TPA_FRAME_HEADER, header_bytes(first));
	size = compact.header ? at_most(header_bytes(first), size) : 0;
	*bytes = compact.header ? first->trace_bytes : 0;
	if (size)
		memcpy(buffer, compact.header, size);
	tpa_frames_close(&compact.frames);
	free(compact.header);
	return size;
}

struct tpa_compact *tpa_compact_open(const struct tpa_part *file, const char **reason)
{
	struct tpa_compact *compact = tpa_zalloc(1, sizeof(*compact));

	*reason = "its begin can't be read";
	if (open_it(compact, file, reason))
		return compact;
	tpa_compact_close(compact);
	return NULL;
}

void tpa_compact_close(struct tpa_compact *compact)
{
	if (!compact)
		return;
	tpa_frames_close(&compact->frames);
	for (size_t i = 0; i < KEPT; i++)
		free(compact->kept[i].records);
	free(compact->header);
	free(compact->chunks);
	free(compact->places);
	free(compact->groups);
	free(compact->members);
	free(compact->names);
	free(compact);
}

/* ---- reading ---- */

static bool decode(struct tpa_compact *compact, size_t number, uint8_t *records)
{
	const struct group *group = &compact->groups[number];
	size_t frame = TPA_FRAME_GROUPS + number, length = compact->frames.list[frame].length;
	uint8_t *bytes = tpa_zalloc(1, length);
	uint32_t *lengths = tpa_zalloc(group->count, sizeof(*lengths));
	bool good;

	for (uint32_t i = 0; i < group->count; i++)
		lengths[i] = compact->chunks[group->chunks[i]].length;
	good = tpa_frames_read(&compact->frames, frame, bytes) &&
	       tpa_group_decode(bytes, length, lengths, group->count, records);
	free(bytes);
	free(lengths);
	return good;
}

/* The records of a group. NULL: its frame is damaged. */
static const uint8_t *records_of(struct tpa_compact *compact, size_t number)
{
	struct kept *kept = compact->kept;

	for (size_t i = 0; i < KEPT; i++) {
		if (compact->kept[i].group == number + 1) {
			compact->kept[i].used = ++compact->uses;
			return compact->kept[i].records;
		}
		if (compact->kept[i].used < kept->used)
			kept = &compact->kept[i];
	}
	free(kept->records);
	kept->records = tpa_zalloc(1, compact->groups[number].length);
	kept->group = number + 1;
	kept->used = ++compact->uses;
	if (!decode(compact, number, kept->records)) {
		free(kept->records);
		kept->records = NULL;
	}
	return kept->records;
}

/* Some bytes of a chunk, from `within` on: of its head, of its records, or the zeros behind these. */
static size_t read_chunk(struct tpa_compact *compact, uint32_t number, uint64_t within, void *buffer, size_t size)
{
	const struct tpa_compact_chunk *chunk = &compact->chunks[number];
	const uint8_t *records;

	size = at_most(compact->first.chunk_size - within, size);
	if (within < sizeof(chunk->head)) {
		size = at_most(sizeof(chunk->head) - within, size);
		memcpy(buffer, (const uint8_t *)&chunk->head + within, size);
		return size;
	}
	within -= sizeof(chunk->head);
	if (within >= chunk->length) {
		memset(buffer, 0, size);
		return size;
	}
	records = records_of(compact, chunk->group - 1);
	if (!records)
		return 0;
	size = at_most(chunk->length - within, size);
	memcpy(buffer, records + compact->places[number] + within, size);
	return size;
}

static size_t read_some(struct tpa_compact *compact, void *buffer, size_t size, uint64_t offset)
{
	const struct tpa_compact_first *first = &compact->first;

	if (offset >= first->trace_bytes)
		return 0;
	size = at_most(first->trace_bytes - offset, size);
	if (offset < first->header_size) {
		size = at_most(first->header_size - offset, size);
		memcpy(buffer, compact->header + offset, size);
		return size;
	}
	offset -= first->header_size;
	return read_chunk(compact, (uint32_t)(offset / first->chunk_size), offset % first->chunk_size, buffer, size);
}

size_t tpa_compact_read(struct tpa_compact *compact, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0, got;

	while (done < size && (got = read_some(compact, (uint8_t *)buffer + done, size - done, offset + done)) > 0)
		done += got;
	return done;
}

uint64_t tpa_compact_bytes(const struct tpa_compact *compact)
{
	return compact->first.trace_bytes;
}

const uint8_t *tpa_compact_names(struct tpa_compact *compact, size_t *length)
{
	size_t number = TPA_FRAME_GROUPS + compact->first.groups;

	*length = 0;
	if (!compact->first.names)
		return NULL;
	*length = compact->frames.list[number].length;
	if (!compact->names && *length <= TPA_COMPACT_RATIO * compact->frames.file.bytes)
		compact->names = whole_frame(compact, number, *length);
	return compact->names;
}
