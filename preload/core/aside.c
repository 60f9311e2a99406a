/* SPDX-License-Identifier: Apache-2.0 */
#include "core/aside.h"

#include "core/chunk.h"
#include "core/output.h"
#include "core/recorded.h"
#include "core/room.h"
#include "core/space.h"
#include "core/state.h"
#include "core/sys.h"

#include <time.h>

/* One piece of address space, so that a chunk tells its place, and nothing else of the program's comes to lie there. */
#define AREA_BYTES ((size_t)TP_ASIDE_MOST * TPROF_CHUNK_SIZE)

#define TRIES 1000     /* at the end, of what other threads are at: a second at most */
#define TRY_NS 1000000 /* after each */

enum place_state {
	FREE,
	OPEN,	 /* in memory; its writer writes to it */
	FULL,	 /* in memory; nobody does */
	MOVING,	 /* a thread is putting it into the file, or taking it */
	LEFT,	 /* as MOVING, and its writer is done with it meanwhile */
	IN_FILE, /* the file is mapped there; its writer writes to it */
	COPIED,	 /* in memory, as OPEN, and what it held at the end is in the file */
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
	new = tp_sys_mmap_shared_zeros(NULL, AREA_BYTES);
	if (tp_sys_failed(new))
		return NULL;
	if (tp_swap_if(&area, (char *)NULL, new)) /* release: pairs with the load above */
		tp_space_note(new, AREA_BYTES);
	else
		tp_sys_munmap(new, AREA_BYTES);
	return tp_load_acquire(&area);
}

/* Others may still be finding out that the area is there. */
static struct tprof_chunk *chunk_of(const struct place *place)
{
	return (struct tprof_chunk *)(tp_load(&area) + (size_t)(place - places) * TPROF_CHUNK_SIZE);
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
	bool cleared = !tp_sys_failed(tp_sys_mmap_shared_zeros(chunk_of(place), TPROF_CHUNK_SIZE));

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

/* What it holds by now is more than what was copied. */
static bool give_copied(struct place *place)
{
	if (tp_load(&place->state) != COPIED)
		return false;
	count(1);
	if (tp_swap_if(&place->state, (uint32_t)COPIED, (uint32_t)FULL))
		return true;
	count(-1);
	return false;
}

/* A mover that is done makes what was MOVING something else again: then it is asked about once more. */
bool tp_aside_give(struct tprof_chunk *chunk)
{
	struct place *place = place_of(chunk);
	uint32_t state;

	if (!place)
		return false;
	do {
		if (tp_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)FULL) ||
		    tp_swap_if(&place->state, (uint32_t)MOVING, (uint32_t)LEFT) || give_copied(place))
			return true;
		state = tp_load_acquire(&place->state);
	} while (state == OPEN || state == MOVING || state == COPIED);
	clear(place);
	return true;
}

/* ---- into the file ---- */

static bool put_bytes(int fd, const char *from, size_t length, uint64_t offset)
{
	return tp_sys_pwrite(fd, from, length, offset) == (long)length;
}

/* The header last: before it the reader sees no chunk there. */
static bool put(int fd, const char *chunk, uint64_t offset)
{
	size_t head = sizeof(struct tprof_chunk);

	return put_bytes(fd, chunk + head, TPROF_CHUNK_SIZE - head, offset + head) &&
	       put_bytes(fd, chunk, head, offset);
}

/* False: there is no room. */
static bool write_full(struct place *place, int fd)
{
	if (!tp_swap_if(&place->state, (uint32_t)FULL, (uint32_t)MOVING))
		return true;
	if (tp_room_reserve(fd, place->offset, TPROF_CHUNK_SIZE) != 0 ||
	    !put(fd, (const char *)chunk_of(place), place->offset)) {
		tp_store_release(&place->state, (uint32_t)FULL);
		return false;
	}
	clear(place);
	count(-1);
	return true;
}

/* A chunk that its writer may be writing to, while it is put into the file. */
struct moved {
	char *place;  /* where the writer has it: memory first, then the file */
	char *memory; /* the memory in a second place: there also when the writer has the file */
	char *put;    /* of the memory, what was put into the file */
};

/*
 * What the writer stored in memory after the copy. What it has stored in the file since is newer. The length last, as the
 * writer does it. ThreadSanitizer can't know that a record's bytes are written in one of the two places.
 */
static __attribute__((no_sanitize("thread"))) void put_rest(const struct moved *moved)
{
	const size_t head = sizeof(struct tprof_chunk) / sizeof(uint64_t);
	const uint64_t *put = (const uint64_t *)moved->put, *memory = (const uint64_t *)moved->memory;

	for (size_t i = head * sizeof(uint64_t); i < TPROF_CHUNK_SIZE; i++)
		if (moved->memory[i] != moved->put[i])
			tp_swap_if(&moved->place[i], moved->put[i], moved->memory[i]);
	for (size_t i = 0; i < head; i++)
		if (memory[i] != put[i])
			tp_swap_if(&((uint64_t *)moved->place)[i], put[i], memory[i]);
}

/*
 * The header first: its length is not more than what is copied behind it. What is being written to meanwhile is no race, and
 * ThreadSanitizer does not know who had these addresses before.
 */
static __attribute__((no_sanitize("thread"))) void copy_chunk(char *to, const char *from)
{
	for (size_t i = 0; i < TPROF_CHUNK_SIZE; i += sizeof(uint64_t))
		*(uint64_t *)(to + i) = tp_load((const uint64_t *)(from + i));
}

/* `file` takes the memory's place in one step: the writer never finds nothing there. */
static bool exchange(struct moved *moved, int fd, uint64_t offset, void *file)
{
	copy_chunk(moved->put, moved->memory);
	if (!put(fd, moved->put, offset) || tp_sys_failed(tp_sys_mremap_to(file, TPROF_CHUNK_SIZE, moved->place)))
		return false;
	put_rest(moved); /* the kernel has made sure that no processor stores there any more */
	return true;
}

static bool replace(struct place *place, int fd)
{
	struct moved moved = { .place = (char *)chunk_of(place) };
	int error = tp_room_reserve(fd, place->offset, TPROF_CHUNK_SIZE);
	void *file = error ? NULL : tp_room_map(fd, place->offset, TPROF_CHUNK_SIZE, &error);
	bool exchanged;

	if (!file)
		return false;
	moved.memory = tp_sys_mremap_again(moved.place, TPROF_CHUNK_SIZE);
	moved.put = tp_sys_mmap(TPROF_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	exchanged =
		!tp_sys_failed(moved.memory) && !tp_sys_failed(moved.put) && exchange(&moved, fd, place->offset, file);
	if (!tp_sys_failed(moved.put))
		tp_sys_munmap(moved.put, TPROF_CHUNK_SIZE);
	if (!tp_sys_failed(moved.memory))
		tp_sys_munmap(moved.memory, TPROF_CHUNK_SIZE);
	if (!exchanged)
		tp_sys_munmap(file, TPROF_CHUNK_SIZE);
	return exchanged;
}

/* What one that was MOVING is next: FULL and false, if its writer was done with it meanwhile. */
static bool release(struct place *place, uint32_t state)
{
	if (tp_swap_if(&place->state, (uint32_t)MOVING, state))
		return true;
	tp_store_release(&place->state, (uint32_t)FULL);
	return false;
}

static bool move_taken(struct place *place, uint32_t from, int fd)
{
	if (!replace(place, fd)) {
		if (!release(place, from) && from == COPIED)
			count(1); /* it may hold more than what was copied */
		return false;
	}
	if (from == OPEN)
		count(-1);
	if (!tp_swap_if(&place->state, (uint32_t)MOVING, (uint32_t)IN_FILE))
		clear(place);
	return true;
}

/* One that is OPEN or COPIED. */
static void move(struct place *place, int fd)
{
	uint32_t from = tp_load(&place->state);

	if ((from == OPEN || from == COPIED) && tp_swap_if(&place->state, from, (uint32_t)MOVING))
		move_taken(place, from, fd);
}

void tp_aside_write(unsigned int most)
{
	int fd = tp_aside_waits() && !tp_load(&tp_sealed) ? tp_output_reach() : -1;

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

	if (!place || tp_load(&place->state) == IN_FILE || tp_load(&tp_sealed) || (fd = tp_output_reach()) < 0)
		return;
	move(place, fd);
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
	/* Acquire pairs with tp_chunk_begin(): in one that is not begun there is nothing. */
	if (tp_load_acquire(&chunk->magic) != TPROF_CHUNK_MAGIC)
		return;
	tp_lost(TPROF_LOST_NO_SPACE, tp_recorded_count(chunk));
	if (chunk->kind == TPROF_CHUNK_EVENTS && chunk->begin.ticks < *first)
		*first = chunk->begin.ticks;
}

static bool put_copy(const struct place *place, int fd)
{
	char *copy = tp_sys_mmap(TPROF_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool done;

	if (tp_sys_failed(copy))
		return false;
	copy_chunk(copy, (const char *)chunk_of(place));
	done = tp_room_reserve(fd, place->offset, TPROF_CHUNK_SIZE) == 0 && put(fd, copy, place->offset);
	tp_sys_munmap(copy, TPROF_CHUNK_SIZE);
	return done;
}

/*
 * A chunk of tables, which a thread keeps or writes to at this moment. Where it writes next it reads in the chunk itself, so
 * that must not change under it. False: there is no room.
 */
static bool copy_taken(struct place *place, int fd)
{
	bool copied = put_copy(place, fd);

	/* One that was given meanwhile may hold more by now. */
	if (release(place, copied ? (uint32_t)COPIED : (uint32_t)OPEN) && copied)
		count(-1);
	return copied;
}

/* Taken before it is looked at: until then its writer may give it, and another chunk begin in its place. */
static bool write_open(struct place *place, int fd)
{
	const struct tprof_chunk *chunk = chunk_of(place);

	if (tp_load(&place->state) != OPEN || !tp_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)MOVING))
		return true;
	/* Acquire pairs with tp_chunk_begin(): its kind is set. */
	if (tp_load_acquire(&chunk->magic) == TPROF_CHUNK_MAGIC)
		return chunk->kind == TPROF_CHUNK_TABLES ? copy_taken(place, fd) : move_taken(place, OPEN, fd);
	release(place, OPEN);
	return true;
}

/* False: there is no room for all of them. */
static bool write_all(int fd)
{
	for (struct place *place = places; place < places + TP_ASIDE_MOST; place++) {
		if (!write_full(place, fd) || !write_open(place, fd))
			return false;
	}
	return true;
}

static void lose_all(void)
{
	uint64_t first = UINT64_MAX;

	tp_stop(TPROF_LOST_NO_SPACE, "no space left on its disk");
	for (struct place *place = places; place < places + TP_ASIDE_MOST; place++)
		lose(place, &first);
	if (first < tp_header->stop_ticks)
		tp_header->stop_ticks = first;
}

/* Other threads go on: one gives a chunk that was open when it was looked at, one is putting another into the file. */
void tp_aside_end(void)
{
	int fd;

	if (!tp_aside_waits() || tp_load(&tp_sealed))
		return;
	fd = tp_output_reach();
	for (int tries = 0; fd >= 0 && tp_aside_waits() && write_all(fd) && tries < TRIES; tries++)
		tp_syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = TRY_NS }, 0, 0, 0);
	if (fd >= 0)
		tp_sys_close(fd);
	if (tp_aside_waits())
		lose_all();
}

void tp_aside_forget(void)
{
	if (area)
		tp_sys_mmap_shared_zeros(area, AREA_BYTES);
	memset(places, 0, sizeof(places));
	waiting = 0;
}
