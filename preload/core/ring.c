/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ring.h"

#include "core/ahead.h"
#include "core/assert.h"
#include "core/clock.h"
#include "core/commit.h"
#include "core/folder.h"
#include "core/log.h"
#include "core/output.h"
#include "core/reclaim.h"
#include "core/state.h"
#include "core/sys.h"

#include <time.h>

#define TRY_NS 1000000	/* between two looks for a free place */
#define RECLAIM_TRIES 5 /* looks after which the chunks of idle threads are taken, again and again */

static struct {
	char *area;	       /* where place 0 is mapped, which stays mapped; NULL: the ring could not be made */
	uint32_t places;       /* in the file */
	tpc_shared_u32 usable; /* of them; fewer than `places` if the disk was full when the file grew */
	tpc_shared_u32 next;   /* where to look for a free place next */
	tpc_shared_bool drops, told;
	uint32_t depth; /* TPROF_DEPTH, which count_tables() lowers */
} ring;

static struct tprof_chunk *chunk_at(uint64_t place)
{
	return (struct tprof_chunk *)(ring.area + place * TPROF_CHUNK_SIZE);
}

/* enum tprof_place of each. */
static uint8_t *states(void)
{
	return tpc_chunk_bytes(chunk_at(0));
}

/* Replaces what is mapped at that place by nothing. */
static void clear(uint64_t place)
{
	tpc_syscall6(SYS_mmap, (long)chunk_at(place), TPROF_CHUNK_SIZE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Moves the chunk to the place's own address. */
static struct tprof_chunk *put(struct tprof_chunk *chunk, uint64_t place, struct tpc_obstacle *obstacle)
{
	if (!tpc_sys_failed(tpc_sys_mremap_to(chunk, TPROF_CHUNK_SIZE, chunk_at(place))))
		return chunk_at(place);
	tpc_sys_munmap(chunk, TPROF_CHUNK_SIZE);
	*obstacle = (struct tpc_obstacle){ .cause = TPROF_LOST_NO_MEMORY, .reason = "mremap failed" };
	return NULL;
}

/* ---- begin and end ---- */

/* Until the folder knows how large a checkpoint is. */
static uint32_t first_reserve(uint32_t of_places)
{
	return of_places * 3 / 8;
}

static void describe(struct tprof_chunk *index)
{
	tpc_header->ring_bytes = tpc_config.ring;
	tpc_header->ring_places = ring.places;
	tpc_header->ring_reserve = first_reserve(ring.places);
	tpc_set_bits(&tpc_header->features_required, TPROF_FEATURE_RING);
	index->kind = TPROF_CHUNK_RING;
	index->begin = tpc_clock_moment();
	if (tpc_config.ring_folder == tpc_state.pid)
		tpc_header->ring_seen_ns = index->begin.mono_ns; /* its folder is about to begin */
	index->committed = ring.places;
	tpc_store_release(&index->magic, TPROF_CHUNK_MAGIC); /* pairs with the reader: the fields above are set */
}

void tpc_ring_open(void)
{
	struct tpc_obstacle obstacle;
	struct tprof_chunk *index;
	char *area;

	if (!tpc_ring_is_on())
		return;
	ring.depth = ring.depth ? ring.depth : tpc_config.depth;
	tpc_header->depth = tpc_config.depth = ring.depth; /* a forked child begins anew */
	ring.places = tprof_ring_places(tpc_config.ring);
	tpc_unshared(ring.usable) = ring.places;
	tpc_ahead_begin();
	tpc_unshared(ring.drops) = tpc_unshared(ring.told) = false;
	area = tpc_sys_mmap((size_t)ring.places * TPROF_CHUNK_SIZE, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	index = tpc_sys_failed(area) ? NULL : tpc_output_grow(tpc_add(&tpc_header->chunks, 1), 1, true, &obstacle);
	if (!index)
		return;
	ring.area = area;
	index = put(index, 0, &obstacle);
	if (index)
		describe(index);
	else
		tpc_ring_forget();
}

void tpc_ring_forget(void)
{
	if (ring.area)
		tpc_sys_munmap(ring.area, (size_t)ring.places * TPROF_CHUNK_SIZE);
	ring.area = NULL;
}

/* ---- places ---- */

/* That a thread has taken. */
struct place {
	uint64_t number;
	bool is_new;	 /* the file grows by it */
	uint64_t waited; /* ticks */
};

/* Places that were never used, and free ones. */
static uint64_t left(void)
{
	uint64_t used = tpc_load(&tpc_header->chunks), usable = tpc_load(&ring.usable);

	return (used < usable ? usable - used : 0) + tpc_load(&tpc_header->ring_free);
}

/* Tables may use half of what events leave. */
static bool has_room(enum tprof_chunk_kind kind)
{
	uint64_t reserve = tpc_load(&tpc_header->ring_reserve);

	return left() > (kind == TPROF_CHUNK_TABLES ? reserve / 2 : reserve);
}

static bool take_new(uint64_t *place)
{
	*place = tpc_load(&tpc_header->chunks);
	while (*place < tpc_load(&ring.usable))
		if (tpc_swap_or_load(&tpc_header->chunks, place, *place + 1))
			return true;
	return false;
}

static bool take_free(uint64_t *place)
{
	uint32_t from = tpc_load(&ring.next);

	for (uint32_t i = 0; i < ring.places; i++) {
		uint32_t at = (from + i) % ring.places;
		uint8_t *state = &states()[at];

		/* Acquire pairs with the folder: the header of the chunk is zeros. */
		if (!at || tpc_load(state) != TPROF_PLACE_FREE ||
		    !tpc_swap_if(state, (uint8_t)TPROF_PLACE_FREE, (uint8_t)TPROF_PLACE_USED))
			continue;
		tpc_sub(&tpc_header->ring_free, 1u);
		tpc_store(&ring.next, at + 1);
		*place = at;
		return true;
	}
	return false;
}

/* ---- waiting ---- */

static void begin_to_drop(void)
{
	tpc_store(&ring.drops, true);
	if (tpc_swap_if(&ring.told, false, true))
		tpc_log("the ring is full, and events are dropped until there is room in ", tpc_output_path());
}

static bool take_place(enum tprof_chunk_kind kind, struct place *place)
{
	if (!has_room(kind))
		return false;
	place->is_new = take_new(&place->number);
	return place->is_new || take_free(&place->number);
}

/* Once events are dropped, no thread waits again before there is room. */
static bool wait_for_place(enum tprof_chunk_kind kind, struct place *place)
{
	uint32_t most = tpc_load(&ring.drops) ? 0 : tpc_config.ring_wait;
	struct timespec rest = { .tv_nsec = TRY_NS };
	uint64_t began = tpc_clock_before();
	bool taken = false;

	for (uint32_t i = 0; i < most && !taken && !tpc_load(&tpc_sealed) && !tpc_state_is_child(); i++) {
		tpc_folder_ask();
		tpc_syscall(SYS_nanosleep, &rest, 0, 0, 0);
		if (i % RECLAIM_TRIES == RECLAIM_TRIES - 1)
			tpc_reclaim_idle();
		taken = take_place(kind, place);
	}
	place->waited = tpc_clock_before() - began;
	tpc_add(&tpc_header->ring_waited, place->waited);
	return taken;
}

/* ---- tables ---- */

/* The more of the ring the tables take, which are never freed, the shorter new stacks become. */
static const struct {
	uint32_t share; /* of the ring, in eighths */
	uint32_t depth; /* frames */
} cuts[] = { { 2, 32 }, { 3, 4 }, { 4, 1 } };

static void count_tables(void)
{
	uint32_t tables = tpc_add(&tpc_header->ring_tables, 1u) + 1, depth = tpc_load(&tpc_config.depth);

	for (size_t i = 0; i < TPC_LENGTH(cuts); i++)
		if (tables >= (uint64_t)ring.places * cuts[i].share / 8 && cuts[i].depth < depth)
			depth = cuts[i].depth;
	if (depth == tpc_load(&tpc_config.depth))
		return;
	tpc_store(&tpc_config.depth, depth);
	tpc_store(&tpc_header->ring_depth, depth);
	tpc_swap_if(&tpc_header->ring_cut, UINT64_C(0), tpc_clock_before());
}

/* ---- chunks ---- */

/* The disk is full, or RLIMIT_FSIZE is reached: the ring stays as large as it is now. */
static void stay_small(uint64_t places)
{
	if (places >= tpc_load(&ring.usable))
		return;
	tpc_store(&ring.usable, (uint32_t)places);
	tpc_store(&tpc_header->ring_places, (uint32_t)places);
	if (!tpc_load(&tpc_header->checkpoint))
		tpc_store(&tpc_header->ring_reserve, first_reserve((uint32_t)places));
}

/* Allocates as much that what is left of it is a reserve, once the place is used. */
static void allocate_for(uint64_t place)
{
	uint64_t most = tpc_load(&ring.usable), wanted = (place + 1) * 8 / 5 + 2, have;

	wanted = wanted < most ? wanted : most;
	have = tpc_ahead_allocate(wanted);
	if (have < wanted)
		stay_small(have);
}

static struct tprof_chunk *make(const struct place *place, bool whole, struct tpc_obstacle *obstacle)
{
	struct tprof_chunk *chunk;

	if (place->is_new)
		allocate_for(place->number);
	chunk = tpc_output_grow(place->number, 1, whole && place->is_new, obstacle);
	return chunk ? put(chunk, place->number, obstacle) : NULL;
}

/* The place could not be made, as the disk is full. Another one may be free, or become so. */
static bool gave_up(const struct place *place, const struct tpc_obstacle *obstacle)
{
	if (!place->is_new || !obstacle->full)
		return false;
	stay_small(place->number);
	tpc_swap_if(&tpc_header->chunks, place->number + 1, place->number); /* not in the file */
	return true;
}

struct tprof_chunk *tpc_ring_take(enum tprof_chunk_kind kind, bool whole, uint64_t *began,
				  struct tpc_obstacle *obstacle)
{
	struct place place = { 0 };
	struct tprof_chunk *chunk;

	*obstacle = (struct tpc_obstacle){ .cause = TPROF_LOST_NO_MEMORY, .reason = "the ring could not be made" };
	if (!ring.area)
		return NULL;
	if (left() < tpc_load(&ring.usable) / 2)
		tpc_folder_ask();
	do {
		if (!take_place(kind, &place) && !wait_for_place(kind, &place)) {
			begin_to_drop();
			obstacle->cause = TPROF_LOST_RING;
			obstacle->passes = false;
			return NULL;
		}
		*began += place.waited;
		place.waited = 0;
		chunk = make(&place, whole, obstacle);
	} while (!chunk && gave_up(&place, obstacle));
	if (kind == TPROF_CHUNK_EVENTS)
		tpc_store(&ring.drops, false);
	if (kind == TPROF_CHUNK_TABLES)
		count_tables();
	return chunk;
}

/* Unmapped first: the place may be another thread's as soon as the folder knows that the chunk has ended. */
void tpc_ring_give(struct tprof_chunk *chunk)
{
	uint64_t at = (uint64_t)((char *)chunk - ring.area), place = at / TPROF_CHUNK_SIZE;
	bool events;

	if (!ring.area || at % TPROF_CHUNK_SIZE != 0 || !place || place >= ring.places)
		return;
	events = chunk->kind == TPROF_CHUNK_EVENTS;
	clear(place);
	if (events)
		tpc_store_release(&states()[place], (uint8_t)TPROF_PLACE_ENDED); /* pairs with the folder */
}
