/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live blocks, by address: a hash table with open addressing and linear probing. Deletion shifts the blocks behind
 * back, so there are no tombstones and a table that is busy for days stays as fast as a new one.
 */
#ifndef TPROF_MODEL_HEAP_LIVE_H
#define TPROF_MODEL_HEAP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

struct tp_archive;

/* Two in a cache line. */
struct tp_block {
	uint64_t address;
	uint64_t size;	/* bytes requested */
	uint64_t time;	/* of the allocation, event time */
	uint32_t site;	/* number of its site; 0: the slot is empty */
	uint32_t slack; /* usable beyond size, see tp_slack_pack() */
};

struct tp_live {
	struct tp_block *blocks;
	size_t count, limit; /* grows when count reaches limit */
	unsigned shift;	     /* 64 - log2 of the table's size */
};

void tp_live_init(struct tp_live *live);
void tp_live_free(struct tp_live *live);
void tp_live_grow(struct tp_live *live);

/* Saves the blocks, or loads them into an empty table. Whoever loads checks the blocks' sites. */
void tp_live_archive(struct tp_archive *archive, struct tp_live *live);

/*
 * Usable size beyond the requested one in 32 bits: exact below 2 GiB; above, the usable size in pages of 4096 (blocks
 * of that size are whole pages), at most 8 TiB.
 */
static inline uint32_t tp_slack_pack(uint64_t size, uint64_t usable)
{
	uint64_t slack = usable > size ? usable - size : 0;

	if (slack < UINT32_C(1) << 31)
		return (uint32_t)slack;
	return UINT32_C(1) << 31 | (uint32_t)(usable >> 12 < INT32_MAX ? usable >> 12 : INT32_MAX);
}

/* The usable size again. */
static inline uint64_t tp_slack_usable(uint64_t size, uint32_t slack)
{
	uint64_t pages = slack & INT32_MAX;

	if (!(slack >> 31))
		return size + slack;
	return pages << 12 > size ? pages << 12 : size;
}

static inline size_t tp_live_slot(const struct tp_live *live, uint64_t address)
{
	return (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> live->shift);
}

/* The block at that address, or the empty slot where it belongs. */
static inline struct tp_block *tp_live_find(const struct tp_live *live, uint64_t address)
{
	size_t mask = ((size_t)1 << (64 - live->shift)) - 1, i = tp_live_slot(live, address);

	while (live->blocks[i].site && live->blocks[i].address != address)
		i = (i + 1) & mask;
	return &live->blocks[i];
}

/* Like tp_live_find(), but makes room for one more block: whoever fills an empty slot adds to `count`. */
static inline struct tp_block *tp_live_place(struct tp_live *live, uint64_t address)
{
	if (__builtin_expect(live->count >= live->limit, 0))
		tp_live_grow(live);
	return tp_live_find(live, address);
}

/* Empties a block's slot and closes the gap. */
static inline void tp_live_remove(struct tp_live *live, struct tp_block *block)
{
	size_t mask = ((size_t)1 << (64 - live->shift)) - 1, gap = (size_t)(block - live->blocks), i = gap;

	for (;;) {
		struct tp_block *next;

		i = (i + 1) & mask;
		next = &live->blocks[i];
		if (!next->site)
			break;
		/* May move if its own slot is not between the gap and itself. */
		if (((i - tp_live_slot(live, next->address)) & mask) >= ((i - gap) & mask)) {
			live->blocks[gap] = *next;
			gap = i;
		}
	}
	live->blocks[gap].site = 0;
	live->count--;
}

/* ---- late frees ---- */

#define TP_OUTLIVED_MANY ((size_t)1 << 22) /* blocks that are kept */

struct tp_outlived_block {
	uint64_t time, size;
	uint32_t site;
};

/*
 * Blocks that were live when the last step ended and were freed later. A program that frees everything as it exits (Python
 * does) has no live blocks at the end, but the report still shows how old the leaked blocks were.
 */
struct tp_outlived {
	uint64_t step_ended; /* event time; 0: no step has ended */
	struct tp_outlived_block *list;
	size_t count, room;
};

/* A step ended. */
static inline void tp_outlived_begin(struct tp_outlived *outlived, uint64_t time)
{
	outlived->step_ended = time;
	outlived->count = 0;
}

/* Frees a block that was live when the step ended. Blocks beyond TP_OUTLIVED_MANY are dropped. */
void tp_outlived_add(struct tp_outlived *outlived, const struct tp_block *block);

/* Saves, or loads. The caller checks the sites after loading. */
void tp_outlived_archive(struct tp_archive *archive, struct tp_outlived *outlived);

#endif
