/* SPDX-License-Identifier: Apache-2.0 */
#include "core/aside.h"

#include "core/chunk.h"
#include "core/output.h"
#include "core/recorded.h"
#include "core/room.h"
#include "core/space.h"
#include "core/state.h"
#include "core/sys.h"

/* One piece of address space, so that a chunk tells its place, and nothing else of the program's comes to lie there. */
#define AREA_BYTES ((size_t)TP_ASIDE_MOST * TPROF_CHUNK_SIZE)

enum place_state {
	FREE,
	OPEN,	 /* in memory; its writer writes to it */
	FULL,	 /* in memory; nobody does */
	MOVING,	 /* a thread is putting it into the file, or taking it */
	LEFT,	 /* as MOVING, and its writer is done with it meanwhile */
	IN_FILE, /* the file is mapped there; its writer writes to it */
	LOST,	 /* counted as lost, at the end */
};

static struct place {
	uint32_t state;
	uint64_t offset; /* in the file */
} places[TP_ASIDE_MOST];

static char *area;
static uint32_t waiting; /* in memory and not in the file */

bool tp_aside_waits(void)
{
	return tp_unlikely(tp_load(&waiting) != 0);
}

static void count(int change)
{
	tp_add(&waiting, (uint32_t)change);
	tp_add(&tp_header->chunks_aside, (uint32_t)change);
	tp_add(&tp_header->collector_bytes, (uint64_t)((int64_t)change * TPROF_CHUNK_SIZE));
}

/* ---- places ---- */

static char *find_area(void)
{
	char *found = tp_load_acquire(&area), *new;

	if (found)
		return found;
	new = tp_sys_mmap(AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (tp_sys_failed(new))
		return NULL;
	if (tp_swap_if(&area, (char *)NULL, new)) /* release: pairs with the load above */
		tp_space_note(new, AREA_BYTES);
	else
		tp_sys_munmap(new, AREA_BYTES);
	return tp_load_acquire(&area);
}

static struct tprof_chunk *chunk_of(const struct place *place)
{
	return (struct tprof_chunk *)(area + (size_t)(place - places) * TPROF_CHUNK_SIZE);
}

/* NULL: it is not one of these. */
static struct place *place_of(const struct tprof_chunk *chunk)
{
	uintptr_t low = (uintptr_t)tp_load_acquire(&area), at = (uintptr_t)chunk - low;

	return low && chunk && at < AREA_BYTES ? &places[at / TPROF_CHUNK_SIZE] : NULL;
}

/* Nobody uses it any more. Without memory for what replaces it, it is never used again. */
static void clear(struct place *place)
{
	bool cleared = !tp_sys_failed(tp_sys_mmap_zeros(chunk_of(place), TPROF_CHUNK_SIZE));

	tp_store_release(&place->state,
			 (uint32_t)(cleared ? FREE : LOST)); /* pairs with the swap of the next one to take it */
}

struct tprof_chunk *tp_aside_take(uint64_t offset)
{
	if (!find_area())
		return NULL;
	for (struct place *place = places; place < places + TP_ASIDE_MOST; place++) {
		if (tp_load(&place->state) != FREE || !tp_swap_if(&place->state, (uint32_t)FREE, (uint32_t)MOVING))
			continue;
		place->offset = offset;
		count(1);
		tp_store_release(&place->state, (uint32_t)OPEN); /* pairs with whoever moves it: the offset is set */
		return chunk_of(place);
	}
	return NULL;
}

/* A mover that finds no room makes what was MOVING an OPEN one again: then it is asked about once more. */
bool tp_aside_give(struct tprof_chunk *chunk)
{
	struct place *place = place_of(chunk);
	uint32_t state;

	if (!place)
		return false;
	do {
		if (tp_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)FULL) ||
		    tp_swap_if(&place->state, (uint32_t)MOVING, (uint32_t)LEFT))
			return true;
		state = tp_load_acquire(&place->state);
	} while (state == OPEN || state == MOVING);
	clear(place);
	return true;
}

/* ---- into the file ---- */

static bool put_bytes(int fd, const char *from, size_t length, uint64_t offset)
{
	return tp_sys_pwrite(fd, from, length, offset) == (long)length;
}

/* The header last: before it the reader sees no chunk there. */
static bool put(const struct place *place, int fd)
{
	const char *chunk = (const char *)chunk_of(place);
	size_t head = sizeof(struct tprof_chunk);

	return put_bytes(fd, chunk + head, TPROF_CHUNK_SIZE - head, place->offset + head) &&
	       put_bytes(fd, chunk, head, place->offset);
}

/* False: there is no room. */
static bool write_full(struct place *place, int fd)
{
	if (!tp_swap_if(&place->state, (uint32_t)FULL, (uint32_t)MOVING))
		return true;
	if (tp_room_reserve(fd, place->offset, TPROF_CHUNK_SIZE) != 0 || !put(place, fd)) {
		tp_store_release(&place->state, (uint32_t)FULL);
		return false;
	}
	clear(place);
	count(-1);
	return true;
}

/* Elsewhere first, then in place of the memory in one step: its writer never finds nothing there. */
static bool replace(struct place *place, int fd)
{
	int error = tp_room_reserve(fd, place->offset, TPROF_CHUNK_SIZE);
	void *file = error ? NULL : tp_room_map(fd, place->offset, TPROF_CHUNK_SIZE, &error);

	if (!file)
		return false;
	if (put(place, fd) && !tp_sys_failed(tp_sys_mremap_to(file, TPROF_CHUNK_SIZE, chunk_of(place))))
		return true;
	tp_sys_munmap(file, TPROF_CHUNK_SIZE);
	return false;
}

/* What another thread than this writes between the two system calls is lost: that can be at the process's end only. */
static void move_open(struct place *place, int fd)
{
	bool moved;

	if (!tp_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)MOVING))
		return;
	moved = replace(place, fd);
	if (moved)
		count(-1);
	if (tp_swap_if(&place->state, (uint32_t)MOVING, (uint32_t)(moved ? IN_FILE : OPEN)))
		return;
	if (moved) /* LEFT */
		clear(place);
	else
		tp_store_release(&place->state, (uint32_t)FULL);
}

void tp_aside_write(unsigned int most)
{
	int fd = tp_aside_waits() && !tp_sealed ? tp_output_reach() : -1;

	if (fd < 0)
		return;
	for (struct place *place = places; place < places + TP_ASIDE_MOST && most > 0; place++) {
		if (tp_load(&place->state) != FULL)
			continue;
		if (!write_full(place, fd))
			break;
		most--;
	}
	tp_sys_close(fd);
}

void tp_aside_settle(struct tprof_chunk *chunk)
{
	struct place *place = place_of(chunk);
	int fd;

	if (!place || tp_load(&place->state) != OPEN || tp_sealed || (fd = tp_output_reach()) < 0)
		return;
	move_open(place, fd);
	tp_sys_close(fd);
}

/* ---- the end ---- */

/* Counts what is in it as lost; *first is the time of the earliest one. */
static void lose(struct place *place, uint64_t *first)
{
	const struct tprof_chunk *chunk = chunk_of(place);

	if (!tp_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)LOST) &&
	    !tp_swap_if(&place->state, (uint32_t)FULL, (uint32_t)LOST))
		return;
	count(-1);
	tp_lost(TPROF_LOST_NO_SPACE, tp_recorded_count(chunk));
	if (chunk->kind == TPROF_CHUNK_EVENTS && chunk->begin.ticks < *first)
		*first = chunk->begin.ticks;
}

void tp_aside_end(void)
{
	uint64_t first = UINT64_MAX;
	int fd;

	if (!tp_aside_waits() || tp_sealed)
		return;
	tp_aside_write(TP_ASIDE_MOST);
	fd = tp_output_reach();
	for (struct place *place = places; fd >= 0 && place < places + TP_ASIDE_MOST; place++)
		move_open(place, fd);
	if (fd >= 0)
		tp_sys_close(fd);
	if (!tp_aside_waits())
		return;
	tp_stop(TPROF_LOST_NO_SPACE, "no space left on its disk");
	for (struct place *place = places; place < places + TP_ASIDE_MOST; place++)
		lose(place, &first);
	if (first < tp_header->stop_ticks)
		tp_header->stop_ticks = first;
}

void tp_aside_forget(void)
{
	if (area)
		tp_sys_mmap_zeros(area, AREA_BYTES);
	memset(places, 0, sizeof(places));
	waiting = 0;
}
