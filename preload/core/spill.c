/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spill.h"

#include "core/assert.h"
#include "core/clock.h"
#include "core/output.h"
#include "core/recorded.h"
#include "core/reserve.h"
#include "core/space.h"
#include "core/state.h"
#include "core/sys.h"

#include <time.h>

/* One range of addresses, so that a chunk's address tells its place, and no memory of the program lies between. */
#define AREA_BYTES ((size_t)TPC_SPILL_MOST * TPROF_CHUNK_SIZE)

#define TRIES 1000     /* at the end, to wait for other threads: at most a second */
#define TRY_NS 1000000 /* between two tries */

enum place_state {
	FREE,
	OPEN,	 /* in memory; its writer writes to it */
	FULL,	 /* in memory; no writer */
	MOVING,	 /* a thread is writing it to the file, or taking the place */
	LEFT,	 /* as MOVING, but its writer is done with it */
	IN_FILE, /* the file is mapped there; its writer writes to it */
	COPYING, /* of tables: as OPEN, and a copy is in the file */
	COPIED,	 /* of tables: in memory, and the file has all of it */
	LOST,	 /* counted as lost, at the end */
};

static struct place {
	tpc_shared_u32 state;
	tpc_shared_u32 kind; /* enum tprof_chunk_kind */
	uint64_t offset;     /* in the file */
} places[TPC_SPILL_MOST];

tpc_spill_memory tpc_spill_area;
static tpc_shared_u32 waiting; /* in memory and not in the file */
static tpc_shared_u32
	tables_waiting; /* the same, of tables; and one more if a chunk of tables could not be allocated */

bool tpc_spill_waits(void)
{
	return tpc_unlikely(tpc_load(&waiting) != 0);
}

/* From now on the file may refer to table records that it lacks. Keeps an earlier time. */
static void tables_missing(void)
{
	tpc_add(&tables_waiting, 1u);
	tpc_swap_if(&tpc_header->tables_from, UINT64_C(0), tpc_clock_before());
}

/* If that was the last one. A thread that adds another meanwhile has counted it before it looks at the time. */
static void tables_found(void)
{
	uint64_t from = tpc_load(&tpc_header->tables_from);

	if (tpc_sub_seq(&tables_waiting, 1u) != 1 || !tpc_swap_if(&tpc_header->tables_from, from, UINT64_C(0)))
		return;
	if (tpc_load_seq(&tables_waiting))
		tpc_store(&tpc_header->tables_from, from);
}

void tpc_spill_no_tables(void)
{
	tables_missing();
}

static void add_waiting(int change)
{
	uint32_t before = tpc_add(&waiting, (uint32_t)change);

	tpc_assert(change > 0 ? before < TPC_SPILL_MOST : before > 0);
	(void)before; /* where assertions are off */
	tpc_add(&tpc_header->chunks_aside, (uint32_t)change);
	tpc_add(&tpc_header->collector_bytes, (uint64_t)((int64_t)change * TPROF_CHUNK_SIZE));
}

static bool has_tables(const struct place *place)
{
	return tpc_load(&place->kind) == TPROF_CHUNK_TABLES;
}

/* The place's content is only in memory; then it is in the file, or lost. */
static void waits(const struct place *place)
{
	if (has_tables(place))
		tables_missing();
	add_waiting(1);
}

static void waits_no_more(const struct place *place)
{
	if (has_tables(place))
		tables_found();
	add_waiting(-1);
}

/* ---- places ---- */

static char *find_area(void)
{
	char *found = tpc_load_acquire(&tpc_spill_area), *new;

	if (found)
		return found;
	new = tpc_sys_mmap_shared_zeros(NULL, AREA_BYTES);
	if (tpc_sys_failed(new))
		return NULL;
	if (tpc_swap_if(&tpc_spill_area, (char *)NULL, new)) /* release: pairs with the load above */
		tpc_space_note(new, AREA_BYTES);
	else
		tpc_sys_munmap(new, AREA_BYTES);
	return tpc_load_acquire(&tpc_spill_area);
}

/* Other threads may not have seen yet that the area exists. */
static struct tprof_chunk *chunk_of(const struct place *place)
{
	return (struct tprof_chunk *)(tpc_load(&tpc_spill_area) + (size_t)(place - places) * TPROF_CHUNK_SIZE);
}

/* The place of a chunk. NULL: it is not one of these. */
static struct place *place_of(const struct tprof_chunk *chunk)
{
	uintptr_t low = (uintptr_t)tpc_load_acquire(&tpc_spill_area), at = (uintptr_t)chunk - low;

	tpc_assert(!low || at >= AREA_BYTES || at % TPROF_CHUNK_SIZE == 0);
	return low && chunk && at < AREA_BYTES ? &places[at / TPROF_CHUNK_SIZE] : NULL;
}

/* Frees the place. If there is no memory to replace its pages, it is never used again. */
static void clear(struct place *place)
{
	bool cleared = !tpc_sys_failed(tpc_sys_mmap_shared_zeros(chunk_of(place), TPROF_CHUNK_SIZE));

	tpc_store_release(&place->state,
			  (uint32_t)(cleared ? FREE : LOST)); /* pairs with the swap of the next thread that takes it */
}

struct tprof_chunk *tpc_spill_take(enum tprof_chunk_kind kind, uint64_t offset)
{
	if (!find_area())
		return NULL;
	for (struct place *place = places; place < places + TPC_SPILL_MOST; place++) {
		if (tpc_load(&place->state) != FREE || !tpc_swap_if(&place->state, (uint32_t)FREE, (uint32_t)MOVING))
			continue;
		tpc_assert((offset - TPROF_HEADER_SIZE) % TPROF_CHUNK_SIZE == 0);
		place->offset = offset;
		tpc_store(&place->kind, (uint32_t)kind);
		waits(place);
		tpc_store_release(&place->state,
				  (uint32_t)OPEN); /* pairs with the thread that moves it: the offset is set */
		return chunk_of(place);
	}
	return NULL;
}

bool tpc_spill_is_copied(const struct tprof_chunk *chunk)
{
	const struct place *place = place_of(chunk);

	return place && tpc_load(&place->state) == COPIED;
}

/* The fence pairs with that of copy_taken(): either it sees the record, or this sees that the copy is done. */
void tpc_spill_wrote(const struct tprof_chunk *chunk)
{
	struct place *place = place_of(chunk);

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (place && !tpc_swap_if(&place->state, (uint32_t)COPYING, (uint32_t)OPEN) &&
	    tpc_swap_if(&place->state, (uint32_t)COPIED, (uint32_t)OPEN))
		waits(place);
}

/* When a mover is done, a MOVING place changes its state: then asks again. */
bool tpc_spill_give(struct tprof_chunk *chunk)
{
	struct place *place = place_of(chunk);
	uint32_t state;

	if (!place)
		return false;
	do {
		if (tpc_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)FULL) ||
		    tpc_swap_if(&place->state, (uint32_t)COPYING, (uint32_t)FULL) ||
		    tpc_swap_if(&place->state, (uint32_t)MOVING, (uint32_t)LEFT))
			return true;
		state = tpc_load_acquire(&place->state);
	} while (state == OPEN || state == COPYING || state == MOVING);
	clear(place);
	return true;
}

/* ---- into the file ---- */

static bool put_bytes(int fd, const char *from, size_t length, uint64_t offset)
{
	return tpc_sys_pwrite(fd, from, length, offset) == (long)length;
}

/* Writes the header last: without it readers see no chunk there. */
static bool put(int fd, const char *chunk, uint64_t offset)
{
	size_t head = sizeof(struct tprof_chunk);

	return put_bytes(fd, chunk + head, TPROF_CHUNK_SIZE - head, offset + head) &&
	       put_bytes(fd, chunk, head, offset);
}

/* False: there is no room. */
static bool write_full(struct place *place, int fd)
{
	if (!tpc_swap_if(&place->state, (uint32_t)FULL, (uint32_t)MOVING))
		return true;
	if (tpc_reserve_space(fd, place->offset, TPROF_CHUNK_SIZE) != 0 ||
	    !put(fd, (const char *)chunk_of(place), place->offset)) {
		tpc_store_release(&place->state, (uint32_t)FULL);
		return false;
	}
	waits_no_more(place);
	clear(place);
	return true;
}

/* A chunk that is written to the file while its writer may use it. */
struct moved {
	char *place;  /* the writer's address: memory first, then the file */
	char *memory; /* the same memory at a second address, which stays */
	char *put;    /* the copy that was written to the file */
};

/*
 * Copies what the writer stored in memory after the copy was made. What it has stored in the file since then is newer.
 * The length comes last, as when the writer commits. ThreadSanitizer can't know that each byte of a record is written
 * in only one of the two.
 */
static __attribute__((no_sanitize("thread"))) void put_rest(const struct moved *moved)
{
	const size_t head = sizeof(struct tprof_chunk) / sizeof(uint64_t);
	const uint64_t *put = (const uint64_t *)moved->put, *memory = (const uint64_t *)moved->memory;

	for (size_t i = head * sizeof(uint64_t); i < TPROF_CHUNK_SIZE; i++)
		if (moved->memory[i] != moved->put[i])
			tpc_swap_if(&moved->place[i], moved->put[i], moved->memory[i]);
	for (size_t i = 0; i < head; i++)
		if (memory[i] != put[i])
			tpc_swap_if(&((uint64_t *)moved->place)[i], put[i], memory[i]);
}

/*
 * Copies the header first: its length, which is returned, covers no more than what is copied after it. Concurrent
 * writes are no race here, and ThreadSanitizer does not know who used these addresses before.
 */
static __attribute__((no_sanitize("thread"))) int64_t copy_chunk(char *to, const char *from)
{
	for (size_t i = 0; i < TPROF_CHUNK_SIZE; i += sizeof(uint64_t))
		*(uint64_t *)(to + i) = tpc_load((const uint64_t *)(from + i));
	tpc_assert(((const struct tprof_chunk *)to)->committed <= TPROF_CHUNK_SIZE - sizeof(struct tprof_chunk));
	return (int64_t)((const struct tprof_chunk *)to)->committed;
}

/* Replaces the memory by `file` in one step: there is no moment at which the writer finds nothing there. */
static bool exchange(struct moved *moved, int fd, uint64_t offset, void *file)
{
	copy_chunk(moved->put, moved->memory);
	if (!put(fd, moved->put, offset) || tpc_sys_failed(tpc_sys_mremap_to(file, TPROF_CHUNK_SIZE, moved->place)))
		return false;
	put_rest(moved); /* the kernel has made sure that no processor stores there any more */
	return true;
}

static bool replace(struct place *place, int fd)
{
	struct moved moved = { .place = (char *)chunk_of(place) };
	int error = tpc_reserve_space(fd, place->offset, TPROF_CHUNK_SIZE);
	void *file = error ? NULL : tpc_reserve_map(fd, place->offset, TPROF_CHUNK_SIZE, &error);
	bool exchanged;

	if (!file)
		return false;
	moved.memory = tpc_sys_mremap_again(moved.place, TPROF_CHUNK_SIZE);
	moved.put = tpc_sys_mmap(TPROF_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	exchanged = !tpc_sys_failed(moved.memory) && !tpc_sys_failed(moved.put) &&
		    exchange(&moved, fd, place->offset, file);
	if (!tpc_sys_failed(moved.put))
		tpc_sys_munmap(moved.put, TPROF_CHUNK_SIZE);
	if (!tpc_sys_failed(moved.memory))
		tpc_sys_munmap(moved.memory, TPROF_CHUNK_SIZE);
	if (!exchanged)
		tpc_sys_munmap(file, TPROF_CHUNK_SIZE);
	return exchanged;
}

/* Ends the state MOVING. False: the writer was done with the chunk meanwhile, and it is FULL. */
static bool release(struct place *place, uint32_t state)
{
	if (tpc_swap_if(&place->state, (uint32_t)MOVING, state))
		return true;
	tpc_assert(tpc_load(&place->state) == LEFT);
	tpc_store_release(&place->state, (uint32_t)FULL);
	return false;
}

/* Moves a chunk of events that a thread writes to. */
static bool move_taken(struct place *place, int fd)
{
	if (!replace(place, fd)) {
		release(place, OPEN);
		return false;
	}
	waits_no_more(place);
	if (!tpc_swap_if(&place->state, (uint32_t)MOVING, (uint32_t)IN_FILE))
		clear(place);
	return true;
}

/* Copies the chunk to the file. Returns the length that was copied; -1: there is no room. */
static int64_t put_copy(const struct place *place, int fd)
{
	char *copy = tpc_sys_mmap(TPROF_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t length;

	if (tpc_sys_failed(copy))
		return -1;
	length = copy_chunk(copy, (const char *)chunk_of(place));
	if (tpc_reserve_space(fd, place->offset, TPROF_CHUNK_SIZE) != 0 || !put(fd, copy, place->offset))
		length = -1;
	tpc_sys_munmap(copy, TPROF_CHUNK_SIZE);
	return length;
}

/*
 * Copies a chunk of tables that a thread keeps or is writing to. The writer reads in the chunk itself where to write
 * next, so the memory must not be replaced: the chunk is copied, and its next writer takes another one. False: there is
 * no room.
 */
static bool copy_taken(struct place *place, int fd)
{
	int64_t length = put_copy(place, fd);

	if (!release(place, length < 0 ? OPEN : COPYING) || length < 0)
		return length >= 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with tpc_spill_wrote() */
	if ((int64_t)tpc_load(&chunk_of(place)->committed) != length)
		tpc_swap_if(&place->state, (uint32_t)COPYING, (uint32_t)OPEN); /* written to meanwhile: next time */
	else if (tpc_swap_if(&place->state, (uint32_t)COPYING, (uint32_t)COPIED))
		waits_no_more(place);
	return true;
}

/* Takes the place before looking at it: otherwise its writer could return it and another chunk begin there. */
static bool write_open(struct place *place, int fd)
{
	if (tpc_load(&place->state) != OPEN || !tpc_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)MOVING))
		return true;
	/* Acquire pairs with tpc_chunk_begin(): the chunk has begun. */
	if (tpc_load_acquire(&chunk_of(place)->magic) == TPROF_CHUNK_MAGIC)
		return has_tables(place) ? copy_taken(place, fd) : move_taken(place, fd);
	release(place, OPEN);
	return true;
}

/* Writes chunks of tables, or of events; of events only full ones, unless `open`. False: there is no more room. */
static bool write_some(int fd, bool tables, bool open, unsigned int *most)
{
	for (struct place *place = places; place<places + TPC_SPILL_MOST && * most> 0; place++) {
		uint32_t state = tpc_load(&place->state);

		if ((state != FULL && state != OPEN) || has_tables(place) != tables)
			continue;
		if (!(state == FULL ? write_full(place, fd) : !open || write_open(place, fd)))
			return false;
		if (state == FULL || open)
			--*most;
	}
	return true;
}

/* Tables first: without them no later event can be read. */
void tpc_spill_write(unsigned int most)
{
	int fd = tpc_spill_waits() && !tpc_load(&tpc_sealed) ? tpc_output_reach() : -1;

	if (fd < 0)
		return;
	if (write_some(fd, true, true, &most))
		write_some(fd, false, false, &most);
	tpc_sys_close(fd);
}

void tpc_spill_settle(struct tprof_chunk *chunk)
{
	struct place *place = place_of(chunk);
	int fd;

	if (!place || tpc_load(&place->state) != OPEN || tpc_load(&tpc_sealed) || (fd = tpc_output_reach()) < 0)
		return;
	write_open(place, fd);
	tpc_sys_close(fd);
}

/* ---- the end ---- */

/* Counts the content as lost; *first becomes the time of the earliest lost event. */
static void lose(struct place *place, uint64_t *first)
{
	const struct tprof_chunk *chunk = chunk_of(place);

	if (!tpc_swap_if(&place->state, (uint32_t)OPEN, (uint32_t)LOST) &&
	    !tpc_swap_if(&place->state, (uint32_t)FULL, (uint32_t)LOST))
		return;
	add_waiting(-1); /* it never was in the file: tables_from stays */
	/* Acquire pairs with tpc_chunk_begin(): a chunk that has not begun is empty. */
	if (tpc_load_acquire(&chunk->magic) != TPROF_CHUNK_MAGIC)
		return;
	tpc_lost(TPROF_LOST_NO_SPACE, tpc_recorded_count(chunk));
	if (chunk->kind == TPROF_CHUNK_EVENTS && chunk->begin.ticks < *first)
		*first = chunk->begin.ticks;
}

/* False: there is no room for all chunks. */
static bool write_all(int fd)
{
	unsigned int most = UINT32_MAX;

	return write_some(fd, true, true, &most) && write_some(fd, false, true, &most);
}

static void lose_all(void)
{
	uint64_t first = tpc_load(&tpc_header->tables_from) ? tpc_load(&tpc_header->tables_from) : UINT64_MAX;

	tpc_stop(TPROF_LOST_NO_SPACE, "no space left on its disk");
	for (struct place *place = places; place < places + TPC_SPILL_MOST; place++)
		lose(place, &first);
	if (first < tpc_header->stop_ticks)
		tpc_header->stop_ticks = first;
}

/* Other threads continue: one may return a chunk that was open, another may be writing one to the file. */
void tpc_spill_end(void)
{
	int fd;

	if (!tpc_spill_waits() || tpc_load(&tpc_sealed))
		return;
	fd = tpc_output_reach();
	for (int tries = 0; fd >= 0 && tpc_spill_waits() && write_all(fd) && tries < TRIES; tries++)
		tpc_syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = TRY_NS }, 0, 0, 0);
	if (fd >= 0)
		tpc_sys_close(fd);
	if (tpc_spill_waits())
		lose_all();
}

void tpc_spill_forget(void)
{
	if (tpc_unshared(tpc_spill_area))
		tpc_sys_mmap_shared_zeros(tpc_unshared(tpc_spill_area), AREA_BYTES);
	memset(places, 0, sizeof(places));
	tpc_unshared(waiting) = tpc_unshared(tables_waiting) = 0;
}
