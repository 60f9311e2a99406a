/* SPDX-License-Identifier: Apache-2.0 */
#include "base/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAGIC UINT64_C(0x3165746174737074) /* "tpstate1" */

/* Increase it when the meaning of a field changes. A changed layout is detected by the sizes in the archive. */
#define VERSION 8u

struct seal {
	uint64_t magic;
	uint32_t version, reserved;
	uint64_t length;   /* bytes after the seal */
	uint64_t checksum; /* of those bytes */
};

static const char cut[] = "the saved state is cut short";

void tpa_archive_load_from(struct tpa_archive *archive, const void *bytes, size_t size)
{
	*archive = (struct tpa_archive){
		.loading = true, .bytes = (uint8_t *)(uintptr_t)bytes, .size = size, .user = archive->user
	};
}

void tpa_archive_free(struct tpa_archive *archive)
{
	if (!archive->loading)
		free(archive->bytes);
	archive->bytes = NULL;
	archive->size = archive->room = 0;
}

static void fail(struct tpa_archive *archive, const char *reason)
{
	if (!archive->failed)
		archive->failed = reason;
}

bool tpa_archive_check(struct tpa_archive *archive, bool condition, const char *reason)
{
	if (!condition)
		fail(archive, reason);
	return !archive->failed;
}

static void put(struct tpa_archive *archive, const void *bytes, size_t size)
{
	size_t room = archive->room ? archive->room : 4096;

	if (archive->failed || !size)
		return;
	while (room - archive->size < size)
		room *= 2;
	if (room != archive->room)
		archive->bytes = tpa_resize(archive->bytes, room, 1);
	archive->room = room;
	memcpy(archive->bytes + archive->size, bytes, size);
	archive->size += size;
}

/* Fills `bytes` with zeros if the archive has failed or is too short. */
static void get(struct tpa_archive *archive, void *bytes, size_t size)
{
	if (!archive->failed && archive->size - archive->at < size)
		fail(archive, cut);
	if (archive->failed) {
		memset(bytes, 0, size);
		return;
	}
	memcpy(bytes, archive->bytes + archive->at, size);
	archive->at += size;
}

static void move(struct tpa_archive *archive, void *bytes, size_t size)
{
	if (archive->loading)
		get(archive, bytes, size);
	else
		put(archive, bytes, size);
}

static void move_size(struct tpa_archive *archive, size_t size)
{
	uint32_t there = (uint32_t)size;

	move(archive, &there, sizeof(there));
	tpa_archive_check(archive, there == size, "the saved state is of another build of tprof-analyze");
}

void tpa_archive_object(struct tpa_archive *archive, void *object, size_t size)
{
	move_size(archive, size);
	move(archive, object, size);
}

static void load_array(struct tpa_archive *archive, void *list, size_t *count, size_t *room, size_t size)
{
	size_t number = *count, capacity = room && *room > number ? *room : number;
	void *array = NULL;

	*count = 0;
	memcpy(&array, list, sizeof(array));
	free(array);
	array = tpa_zalloc(capacity + 1, size);
	get(archive, array, number * size);
	memcpy(list, &array, sizeof(array));
	if (room)
		*room = capacity;
	if (!archive->failed)
		*count = number;
}

void tpa_archive_array(struct tpa_archive *archive, void *list, size_t *count, size_t *room, size_t size)
{
	uint64_t number = *count;
	const void *array;

	move_size(archive, size);
	move(archive, &number, sizeof(number));
	if (!archive->loading) {
		memcpy(&array, list, sizeof(array));
		put(archive, array, *count * size);
		return;
	}
	if (!tpa_archive_check(archive, number <= (archive->size - archive->at) / size, cut))
		number = 0;
	*count = (size_t)number;
	load_array(archive, list, count, room, size);
}

void tpa_archive_text(struct tpa_archive *archive, char **text)
{
	size_t length = !archive->loading && *text ? strlen(*text) + 1 : 0;

	if (archive->loading)
		*text = NULL;
	tpa_archive_array(archive, text, &length, NULL, 1);
	if (archive->loading && !length) {
		free(*text);
		*text = NULL;
	}
	if (archive->loading && length)
		(*text)[length - 1] = 0;
}

/* ---- files ---- */

/* A variant of FNV-1a: over 64-bit words, then over the remaining bytes. */
static uint64_t checksum(const uint8_t *bytes, size_t size)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325), word;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x100000001b3);
		sum ^= sum >> 32;
	}
	for (; size; bytes++, size--)
		sum = (sum ^ *bytes) * UINT64_C(0x100000001b3);
	return sum;
}

bool tpa_archive_seal(struct tpa_archive *archive)
{
	struct seal seal = { MAGIC, VERSION, 0, archive->size, checksum(archive->bytes, archive->size) };
	size_t length = archive->size;

	put(archive, &seal, sizeof(seal)); /* only makes room: the seal goes to the front */
	if (archive->failed)
		return false;
	memmove(archive->bytes + sizeof(seal), archive->bytes, length);
	memcpy(archive->bytes, &seal, sizeof(seal));
	return true;
}

bool tpa_archive_open(struct tpa_archive *archive, const void *bytes, size_t size)
{
	struct seal seal = { 0 };
	const uint8_t *behind = (const uint8_t *)bytes + sizeof(seal);

	tpa_archive_load_from(archive, bytes, size);
	if (size >= sizeof(seal))
		memcpy(&seal, bytes, sizeof(seal));
	if (!tpa_archive_check(archive, seal.magic == MAGIC, "no saved state of tprof-analyze") ||
	    !tpa_archive_check(archive, seal.version == VERSION,
			       "the saved state is of another version of tprof-analyze") ||
	    !tpa_archive_check(archive, seal.length == size - sizeof(seal), cut) ||
	    !tpa_archive_check(archive, seal.checksum == checksum(behind, (size_t)seal.length),
			       "the saved state is damaged: its checksum is wrong"))
		return false;
	archive->at = sizeof(seal);
	return true;
}
