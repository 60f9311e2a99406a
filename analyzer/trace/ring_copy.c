/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_copy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/read_at.h"
#include "trace/impl.h"
#include "trace/ring.h"

#define TRIES 10 /* a folder that waited too long for this reader went on */

struct copying {
	int from, to;
	uint64_t began; /* ticks */
};

static bool read_head(const struct copying *copying, size_t place, struct tprof_chunk *chunk)
{
	return tpa_read_at(copying->from, chunk, sizeof(*chunk), tpa_ring_offset((uint32_t)place)) == sizeof(*chunk);
}

/* The header of a chunk is read first: the program writes a record before it says that the record is there. */
static bool copy_chunk(const struct copying *copying, size_t place)
{
	static _Thread_local uint8_t bytes[TPROF_CHUNK_SIZE];
	struct tprof_chunk *chunk = (struct tprof_chunk *)bytes;
	uint64_t offset = tpa_ring_offset((uint32_t)place);

	if (!read_head(copying, place, chunk) || chunk->committed > sizeof(bytes) - sizeof(*chunk) ||
	    tpa_read_at(copying->from, chunk + 1, chunk->committed, offset + sizeof(*chunk)) < chunk->committed)
		return false;
	return pwrite(copying->to, bytes, sizeof(*chunk) + chunk->committed, (off_t)offset) ==
	       (ssize_t)(sizeof(*chunk) + chunk->committed);
}

/* How many places the file has by now; 0: it is no ring. The copy becomes as large. */
static size_t make_room(const struct copying *copying)
{
	off_t size = lseek(copying->from, 0, SEEK_END);

	if (size < TPROF_HEADER_SIZE || size > (off_t)TPROF_RING_MOST || ftruncate(copying->to, size) != 0)
		return 0;
	return ((size_t)size - TPROF_HEADER_SIZE) / TPROF_CHUNK_SIZE;
}

/* First it finds which chunks have begun. Those that threads begin meanwhile are left out, so nothing of a thread is missing. */
static bool copy_others(const struct copying *copying)
{
	size_t places = make_room(copying);
	bool *begun = tpa_zalloc(places + 1, sizeof(*begun)), good = places > 0;
	struct tprof_chunk chunk;

	for (size_t i = 0; i < places && good; i++) {
		good = read_head(copying, i, &chunk);
		begun[i] = chunk.magic && chunk.kind != TPROF_CHUNK_TABLES &&
			   !(chunk.kind == TPROF_CHUNK_EVENTS && chunk.begin.ticks > copying->began);
	}
	for (size_t i = 0; i < places && good; i++)
		good = !begun[i] || copy_chunk(copying, i);
	free(begun);
	return good;
}

/* Later than the events: they have all that these refer to. */
static bool copy_tables(const struct copying *copying)
{
	size_t places = make_room(copying);
	struct tprof_chunk chunk;
	bool good = places > 0;

	for (size_t i = 0; i < places && good; i++) {
		good = read_head(copying, i, &chunk);
		if (good && chunk.magic && chunk.kind == TPROF_CHUNK_TABLES)
			good = copy_chunk(copying, i);
	}
	return good;
}

static uint64_t checkpoint_of(int fd)
{
	uint64_t number = 0;

	tpa_read_at(fd, &number, sizeof(number), offsetof(struct tprof_header, checkpoint));
	return number;
}

static bool copy_once(struct copying *copying)
{
	static _Thread_local uint8_t header[TPROF_HEADER_SIZE];
	uint64_t number = checkpoint_of(copying->from);
	uint32_t clock = 0;

	tpa_read_at(copying->from, &clock, sizeof(clock), offsetof(struct tprof_header, clock));
	copying->began = tpa_moment_now(clock).ticks;
	return copy_others(copying) && copy_tables(copying) &&
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
		tpa_ring_lock_to_read(fd);
		good = copying.to >= 0 && copy_once(&copying);
		tpa_ring_unlock(fd);
		if (!good && copying.to >= 0)
			close(copying.to);
	}
	return good ? copying.to : -1;
}
