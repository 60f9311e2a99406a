/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/file_lock.h"

#define LEVEL 1						     /* of zstd: the folder should be done soon */
#define ROOM (TPROF_CHUNK_SIZE - sizeof(struct tprof_chunk)) /* bytes of a checkpoint in a chunk */

bool tpa_ring_open(struct tpa_ring *ring, int fd)
{
	const struct tprof_chunk *index;
	uint32_t places = 0;

	memset(ring, 0, sizeof(*ring));
	ring->fd = fd;
	if (lseek(fd, 0, SEEK_END) < (off_t)(TPROF_HEADER_SIZE + TPROF_CHUNK_SIZE))
		return false;
	ring->header = mmap(NULL, TPROF_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ring->index = mmap(NULL, TPROF_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, TPROF_HEADER_SIZE);
	index = ring->index;
	if (ring->header != MAP_FAILED && ring->index != MAP_FAILED && index->magic == TPROF_CHUNK_MAGIC &&
	    index->kind == TPROF_CHUNK_RING && (places = ring->header->ring_places) <= ROOM &&
	    ring->header->chunk_size == TPROF_CHUNK_SIZE && ring->header->header_size == TPROF_HEADER_SIZE) {
		ring->states = (uint8_t *)ring->index + sizeof(*index);
		ring->places = places;
		return true;
	}
	tpa_ring_close(ring);
	return false;
}

void tpa_ring_close(struct tpa_ring *ring)
{
	if (ring->header && ring->header != MAP_FAILED)
		munmap(ring->header, TPROF_HEADER_SIZE);
	if (ring->index && ring->index != MAP_FAILED)
		munmap(ring->index, TPROF_CHUNK_SIZE);
	memset(ring, 0, sizeof(*ring));
}

uint32_t tpa_ring_place(uint64_t offset)
{
	return (uint32_t)((offset - TPROF_HEADER_SIZE) / TPROF_CHUNK_SIZE);
}

uint64_t tpa_ring_offset(uint32_t place)
{
	return TPROF_HEADER_SIZE + (uint64_t)place * TPROF_CHUNK_SIZE;
}

uint32_t tpa_ring_usable(const struct tpa_ring *ring)
{
	uint32_t usable = __atomic_load_n(&ring->header->ring_places, __ATOMIC_RELAXED);

	return usable < ring->places ? usable : ring->places;
}

bool tpa_ring_is_waited_for(const struct tpa_ring *ring)
{
	return tpa_ring_left(ring) <= (uint64_t)__atomic_load_n(&ring->header->ring_reserve, __ATOMIC_RELAXED) + 1;
}

uint64_t tpa_ring_left(const struct tpa_ring *ring)
{
	uint64_t used = __atomic_load_n(&ring->header->chunks, __ATOMIC_RELAXED), usable = tpa_ring_usable(ring);

	return (used < usable ? usable - used : 0) + __atomic_load_n(&ring->header->ring_free, __ATOMIC_RELAXED);
}

static uint32_t take_new(struct tpa_ring *ring)
{
	uint64_t place = __atomic_load_n(&ring->header->chunks, __ATOMIC_RELAXED);

	while (place < tpa_ring_usable(ring))
		if (__atomic_compare_exchange_n(&ring->header->chunks, &place, place + 1, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return (uint32_t)place;
	return 0;
}

uint32_t tpa_ring_take(struct tpa_ring *ring)
{
	for (uint32_t place = 1; place < ring->places; place++) {
		uint8_t expected = TPROF_PLACE_FREE;

		if (ring->states[place] != TPROF_PLACE_FREE ||
		    !__atomic_compare_exchange_n(&ring->states[place], &expected, (uint8_t)TPROF_PLACE_USED, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_sub(&ring->header->ring_free, 1, __ATOMIC_RELAXED);
		return place;
	}
	return take_new(ring);
}

void tpa_ring_free(struct tpa_ring *ring, uint32_t place)
{
	static const struct tprof_chunk nothing;

	if (!place || place >= ring->places || ring->states[place] == TPROF_PLACE_FREE ||
	    pwrite(ring->fd, &nothing, sizeof(nothing), (off_t)tpa_ring_offset(place)) != sizeof(nothing))
		return;
	/* Release pairs with the program, which takes the place. */
	__atomic_store_n(&ring->states[place], (uint8_t)TPROF_PLACE_FREE, __ATOMIC_RELEASE);
	__atomic_fetch_add(&ring->header->ring_free, 1, __ATOMIC_RELAXED);
}

/* ---- the locks ---- */

bool tpa_ring_become_folder(int fd)
{
	return tpa_file_lock(fd, F_WRLCK, offsetof(struct tprof_header, ring_folder), 1);
}

bool tpa_ring_has_folder(int fd)
{
	return tpa_file_is_locked(fd, offsetof(struct tprof_header, ring_folder), 1);
}

#define LOCK_TRIES 500 /* of a millisecond */

static bool set_lock(int fd, short type)
{
	return tpa_file_lock_if_any(fd, type, offsetof(struct tprof_header, checkpoint), 1);
}

static void wait_for_lock(int fd, short type)
{
	for (int i = 0; i < LOCK_TRIES && !set_lock(fd, type); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void tpa_ring_lock_to_read(int fd)
{
	wait_for_lock(fd, F_RDLCK);
}

void tpa_ring_lock_to_write(int fd)
{
	wait_for_lock(fd, F_WRLCK);
}

void tpa_ring_unlock(int fd)
{
	set_lock(fd, F_UNLCK);
}

/* ---- checkpoints ---- */

/* The magic is written last: until then the chunk counts as handed out and not begun. */
static bool write_part(struct tpa_ring *ring, uint64_t number, uint32_t part, const uint8_t *bytes, size_t size)
{
	struct tprof_chunk head = { .kind = TPROF_CHUNK_STATE, .thread = part, .committed = size };
	uint32_t place = tpa_ring_take(ring), magic = TPROF_CHUNK_MAGIC;
	off_t offset = (off_t)tpa_ring_offset(place);

	if (!place)
		return false;
	head.overhead_ticks = number;
	do {
		errno = posix_fallocate(ring->fd, offset, TPROF_CHUNK_SIZE);
	} while (errno == EINTR);
	return !errno && pwrite(ring->fd, &head, sizeof(head), offset) == sizeof(head) &&
	       pwrite(ring->fd, bytes, size, offset + (off_t)sizeof(head)) == (ssize_t)size &&
	       pwrite(ring->fd, &magic, sizeof(magic), offset) == sizeof(magic);
}

/* The next checkpoint may be larger, and is written while this one is there; and there will be more tables. */
static void set_reserve(struct tpa_ring *ring, uint64_t parts)
{
	uint32_t usable = tpa_ring_usable(ring), most = usable / 2;
	uint64_t reserve = parts + parts / 4 + usable / 32 + 8;

	ring->header->ring_reserve = (uint32_t)(reserve < most ? reserve : most);
}

uint8_t *tpa_ring_compress(const uint8_t *bytes, size_t size, struct tprof_checkpoint *checkpoint)
{
	size_t room = ZSTD_compressBound(size), used;
	uint8_t *compressed = tpa_resize(NULL, 1, room);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (!zstd)
		tpa_no_memory();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1); /* any damage fails to decompress */
	used = ZSTD_compress2(zstd, compressed, room, bytes, size);
	ZSTD_freeCCtx(zstd);
	checkpoint->bytes = used;
	if (!ZSTD_isError(used))
		return compressed;
	free(compressed);
	return NULL;
}

void tpa_ring_clean(struct tpa_ring *ring)
{
	uint64_t used = ring->header->chunks;
	struct tprof_chunk chunk;

	for (uint32_t place = 1; place < ring->places && place < used; place++) {
		uint8_t state = __atomic_load_n(&ring->states[place], __ATOMIC_ACQUIRE); /* before the chunk is read */

		if (pread(ring->fd, &chunk, sizeof(chunk), (off_t)tpa_ring_offset(place)) != sizeof(chunk))
			continue;
		if (chunk.kind == TPROF_CHUNK_STATE ? chunk.overhead_ticks != ring->header->checkpoint
						    : !chunk.magic && state == TPROF_PLACE_ENDED)
			tpa_ring_free(ring, place);
	}
}

bool tpa_ring_write(struct tpa_ring *ring, const struct tprof_checkpoint *checkpoint, const uint8_t *bytes)
{
	struct tprof_checkpoint next = *checkpoint;
	uint64_t parts = (next.bytes + ROOM - 1) / ROOM;
	bool good = parts <= tpa_ring_left(ring);

	next.number = ring->header->checkpoint + 1;
	set_reserve(ring, parts);
	for (uint64_t i = 0; good && i < parts; i++) {
		uint64_t at = i * ROOM, size = next.bytes - at < ROOM ? next.bytes - at : ROOM;

		good = write_part(ring, next.number, (uint32_t)i, bytes + at, size);
	}
	ring->header->ring_too_big = good ? 0 : next.bytes;
	if (good) {
		ring->header->checkpoints[next.number % 2] = next;
		__atomic_store_n(&ring->header->checkpoint, next.number, __ATOMIC_RELEASE); /* pairs with readers */
	}
	tpa_ring_clean(ring);
	return good;
}
