/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live blocks by address: a hash table with open addressing and linear probing. Deletion shifts later blocks back,
 * so there are no tombstones, and a table that is in use for days stays as fast as a new one.
 */
#ifndef TPROF_MODEL_HEAP_LIVE_H
#define TPROF_MODEL_HEAP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

struct tpa_archive;

/* Two of these fit in a cache line. */
struct tpa_block {
	uint64_t address;
	uint64_t size : 58; /* bytes requested; see tpa_block_size() */
	uint64_t mean : 6;  /* by which it was sampled: MEAN of trace/events.h */
	uint64_t time;	    /* event time of the allocation */
	uint32_t site;	    /* site number; 0: the slot is empty */
	uint32_t slack;	    /* usable bytes beyond `size`, see tpa_slack_pack() */
};

/* No block is as large as 2^58 bytes, so a larger size is damage. It counts as the largest that a block can have. */
#define TPA_BLOCK_MOST ((UINT64_C(1) << 58) - 1)

static inline uint64_t tpa_block_size(uint64_t size)
{
	return size < TPA_BLOCK_MOST ? size : TPA_BLOCK_MOST;
}

struct tpa_live {
	struct tpa_block *blocks;
	size_t count, limit; /* grows when count reaches limit */
	unsigned shift;	     /* 64 - log2 of the table's size */
};

void tpa_live_init(struct tpa_live *live);
void tpa_live_free(struct tpa_live *live);
void tpa_live_grow(struct tpa_live *live);

/* Saves the blocks, or loads them into an empty table. The caller checks the blocks' sites after loading. */
void tpa_live_archive(struct tpa_archive *archive, struct tpa_live *live);

/*
 * Packs the usable size beyond the requested size into 32 bits. Below 2 GiB it is exact. Above, the usable size is
 * stored in pages of 4096 bytes (blocks of that size are whole pages), up to 8 TiB.
 */
static inline uint32_t tpa_slack_pack(uint64_t size, uint64_t usable)
{
	uint64_t slack = usable > size ? usable - size : 0;

	if (slack < UINT32_C(1) << 31)
		return (uint32_t)slack;
	return UINT32_C(1) << 31 | (uint32_t)(usable >> 12 < INT32_MAX ? usable >> 12 : INT32_MAX);
}

/* Unpacks the usable size in bytes. */
static inline uint64_t tpa_slack_usable(uint64_t size, uint32_t slack)
{
	uint64_t pages = slack & INT32_MAX;

	if (!(slack >> 31))
		return size + slack;
	return pages << 12 > size ? pages << 12 : size;
}

static inline size_t tpa_live_slot(const struct tpa_live *live, uint64_t address)
{
	return (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> live->shift);
}

/* The block at that address, or the empty slot where it belongs. */
static inline struct tpa_block *tpa_live_find(const struct tpa_live *live, uint64_t address)
{
	size_t mask = ((size_t)1 << (64 - live->shift)) - 1, i = tpa_live_slot(live, address);

	while (live->blocks[i].site && live->blocks[i].address != address)
		i = (i + 1) & mask;
	return &live->blocks[i];
}

/*
 * Like tpa_live_find(), but first makes room for one more block. A caller that fills an empty slot must increment
 * `count`.
 */
static inline struct tpa_block *tpa_live_place(struct tpa_live *live, uint64_t address)
{
	if (__builtin_expect(live->count >= live->limit, 0))
		tpa_live_grow(live);
	return tpa_live_find(live, address);
}

/* Empties a block's slot and closes the gap. */
static inline void tpa_live_remove(struct tpa_live *live, struct tpa_block *block)
{
	size_t mask = ((size_t)1 << (64 - live->shift)) - 1, gap = (size_t)(block - live->blocks), i = gap;

	for (;;) {
		struct tpa_block *next;

		i = (i + 1) & mask;
		next = &live->blocks[i];
		if (!next->site)
			break;
		/* May move if its own slot is not between the gap and itself. */
		if (((i - tpa_live_slot(live, next->address)) & mask) >= ((i - gap) & mask)) {
			live->blocks[gap] = *next;
			gap = i;
		}
	}
	live->blocks[gap].site = 0;
	live->count--;
}

/* ---- late frees ---- */

#define TPA_OUTLIVED_MANY ((size_t)1 << 22) /* blocks that are kept */

struct tpa_outlived_block {
	uint64_t time, size;
	uint32_t site;
};

/*
 * Blocks that were live when the last step ended and were freed later. A program that frees everything as it exits (Python
 * does) has no live blocks at the end, but the report still shows how old the leaked blocks were.
 */
struct tpa_outlived {
	uint64_t step_ended; /* event time; 0: no step has ended */
	struct tpa_outlived_block *list;
	size_t count, room;
};

/* A step ended. */
static inline void tpa_outlived_begin(struct tpa_outlived *outlived, uint64_t time)
{
	outlived->step_ended = time;
	outlived->count = 0;
}

/* Frees a block that was live when the step ended. Blocks beyond TPA_OUTLIVED_MANY are dropped. */
void tpa_outlived_add(struct tpa_outlived *outlived, const struct tpa_block *block);

/* Saves, or loads. The caller checks the sites after loading. */
void tpa_outlived_archive(struct tpa_archive *archive, struct tpa_outlived *outlived);

#endif
