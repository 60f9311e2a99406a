/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_copy.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/read_at.h"
#include "trace/ring.h"

#define TRIES 10 /* a folder that waited too long for this reader went on */

struct copying {
	int from, to;
	uint64_t size;
};

/*
 * The header of a chunk is read first: the program writes a record before it says that the record is there. A chunk whose place
 * was taken meanwhile is either in the checkpoint, or copied anew.
 */
static bool copy_chunk(const struct copying *copying, uint64_t offset, bool tables)
{
	static uint8_t bytes[TPROF_CHUNK_SIZE];
	struct tprof_chunk *chunk = (struct tprof_chunk *)bytes;
	size_t length = sizeof(*chunk);

	if (tpa_read_at(copying->from, chunk, sizeof(*chunk), offset) < sizeof(*chunk))
		return false;
	if (chunk->magic && (chunk->kind == TPROF_CHUNK_TABLES) != tables)
		return true;
	if (chunk->magic && chunk->committed <= sizeof(bytes) - sizeof(*chunk)) {
		length += chunk->committed;
		if (tpa_read_at(copying->from, chunk + 1, chunk->committed, offset + sizeof(*chunk)) < chunk->committed)
			return false;
	}
	return pwrite(copying->to, bytes, length, (off_t)offset) == (ssize_t)length;
}

/* Tables last: they have all that the events refer to. */
static bool copy_chunks(const struct copying *copying)
{
	bool good = true;

	for (int tables = 0; tables < 2; tables++)
		for (uint64_t at = TPROF_HEADER_SIZE; good && at + TPROF_CHUNK_SIZE <= copying->size;
		     at += TPROF_CHUNK_SIZE)
			good = copy_chunk(copying, at, tables);
	return good;
}

static uint64_t checkpoint_of(int fd)
{
	uint64_t number = 0;

	tpa_read_at(fd, &number, sizeof(number), offsetof(struct tprof_header, checkpoint));
	return number;
}

static bool copy_once(const struct copying *copying)
{
	static uint8_t header[TPROF_HEADER_SIZE];
	uint64_t number = checkpoint_of(copying->from);

	return ftruncate(copying->to, (off_t)copying->size) == 0 && copy_chunks(copying) &&
	       tpa_read_at(copying->from, header, sizeof(header), 0) == sizeof(header) &&
	       pwrite(copying->to, header, sizeof(header), 0) == sizeof(header) &&
	       checkpoint_of(copying->from) == number && checkpoint_of(copying->to) == number;
}

int tpa_ring_copy(int fd)
{
	struct copying copying = { .from = fd };
	bool good = false;

	for (int i = 0; i < TRIES && !good; i++) {
		copying.to = memfd_create("ring", MFD_CLOEXEC);
		copying.size = (uint64_t)lseek(fd, 0, SEEK_END);
		tpa_ring_lock_to_read(fd);
		good = copying.to >= 0 && copy_once(&copying);
		tpa_ring_unlock(fd);
		if (!good && copying.to >= 0)
			close(copying.to);
	}
	return good ? copying.to : -1;
}
