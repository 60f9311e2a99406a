/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a CPython interpreter in a process that stands still: where they lie, what type they have, and by which
 * name one holds another. Offsets that depend on the version come from the collector (struct tprof_python). Everything is read
 * as any other memory: what is damaged gives a wrong name at worst.
 */
#ifndef TPROF_MODEL_HOLDERS_PYTHON_H
#define TPROF_MODEL_HOLDERS_PYTHON_H

#include "base/pairs.h"
#include "model/holders/graph.h"
#include "model/holders/types.h"

enum tpa_python_kind {
	TPA_PYTHON_OTHER,
	TPA_PYTHON_LEAF, /* refers to nothing: str, bytes, int, float */
	TPA_PYTHON_DICT,
	TPA_PYTHON_LIST,
	TPA_PYTHON_TUPLE,
	TPA_PYTHON_SET,
	TPA_PYTHON_MODULE,
	TPA_PYTHON_TYPE,
	TPA_PYTHON_FUNCTION,
	TPA_PYTHON_CODE,
	TPA_PYTHON_WEAKREF,
	TPA_PYTHON_CELL,
	TPA_PYTHON_GENERATOR,
	TPA_PYTHON_FRAME,
	TPA_PYTHON_LRU_LINK, /* of functools.lru_cache */
};

struct tpa_python_type {
	uint64_t address, flags, base_size, item_size, base;
	int64_t dict_offset, weak_offset;
	uint8_t kind; /* enum tpa_python_kind */
	uint8_t head; /* bytes of a block before the object: for the garbage collector, the dict */
	char name[128];
};

/* Memory whose words are variables of Python: a module's, a frame's. */
struct tpa_python_area {
	uint64_t low, high;
	uint64_t object; /* a module's table of keys, a frame's code; 0: the name says all */
	char name[128];	 /* of the module */
	uint64_t locals; /* of a frame: its first variable; 0: no frame */
	uint8_t round;
};

struct tpa_holders_python {
	struct tpa_holders_memory *memory;
	const struct tprof_python *of;
	struct tpa_python_type **types; /* [0] is none */
	size_t type_count, type_room;
	struct tpa_pairs numbers;      /* of types, by address */
	uint64_t *misses;	       /* addresses of which it is known that there is no type */
	struct tpa_python_area *areas; /* by address, once all are there */
	size_t area_count, area_room;
	struct tprof_range *arenas; /* of the interpreter's own allocator, in order */
	size_t arena_count, arena_room;
};

/* False: there is no interpreter that can be read. */
bool tpa_python_init(struct tpa_holders_python *python, struct tpa_holders_memory *memory);
void tpa_python_free(struct tpa_holders_python *python);

/* ---- objects ---- */

/* The number of the type at an address; 0: there is none. */
uint32_t tpa_python_type_at(struct tpa_holders_python *python, uint64_t address);

/* The type of an object, wherever it lies; types[0] if it is none. */
const struct tpa_python_type *tpa_python_type_of(struct tpa_holders_python *python, uint64_t object);

/* Says of each block whether it is an object, and of which type. */
void tpa_python_classify(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count);

static inline uint64_t tpa_python_object(const struct tpa_holders_block *block)
{
	return block->address + block->head;
}

/* As UTF-8; false: it is no str. */
bool tpa_python_text(struct tpa_holders_python *python, uint64_t object, char *text, size_t size);

/* Item i of a tuple; 0: it has none. */
uint64_t tpa_python_item(struct tpa_holders_python *python, uint64_t tuple, uint64_t i);

/* Key i of a dict's table of keys, and the table's entries: their number, size and the place of a value in one. */
struct tpa_python_keys {
	uint64_t entries, count;
	uint32_t size, key, value;
};
bool tpa_python_keys_read(struct tpa_holders_python *python, uint64_t table, struct tpa_python_keys *keys);
uint64_t tpa_python_key(struct tpa_holders_python *python, const struct tpa_python_keys *keys, uint64_t i);

#define TPA_PYTHON_HEAP_TYPE (UINT64_C(1) << 9)
#define TPA_PYTHON_MANAGED_DICT (UINT64_C(1) << 4)  /* 3.11 and later */
#define TPA_PYTHON_INLINE_VALUES (UINT64_C(1) << 2) /* 3.13 and later */
#define TPA_PYTHON_DICT_KEYS 32
#define TPA_PYTHON_DICT_VALUES 40
#define TPA_PYTHON_LIST_ITEMS 24
#define TPA_PYTHON_SET_TABLE 40
#define TPA_PYTHON_TYPE_DICT 264
#define TPA_PYTHON_MODULE_DICT 16
#define TPA_PYTHON_CELL_CONTENTS 16
#define TPA_PYTHON_FRAME_FRAME 24 /* from 3.11 on */

/* Where an object that manages its dict itself has a pointer to it, or to its values (up to 3.12). */
#define TPA_PYTHON_OWN_DICT 24
#define TPA_PYTHON_OWN_VALUES 32

/* ---- where they lie ---- */

/*
 * Finds the blocks in the pools of the interpreter's allocator, which lie in mappings. Returns `blocks` with these added, in
 * order of address, and frees the old list. What the trace has as a block of its own stays as it is.
 */
struct tpa_holders_block *tpa_python_add_pools(struct tpa_holders_python *python, const struct tprof_range *mapped,
					       size_t mapped_count, struct tpa_holders_block *blocks, size_t *count);

/* Finds the modules' variables and those of the frames that run. The tables of the former are cut off from what holds them. */
void tpa_python_find_roots(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count);

/* False: the address is no variable of Python's. */
bool tpa_python_name_root(struct tpa_holders_python *python, uint64_t address, struct tpa_holders_root *root);

/* Takes the variables of Python from the addresses that belong to another root. */
void tpa_python_clip_root(const struct tpa_holders_python *python, uint64_t address, struct tpa_holders_root *root);

/* ---- in the graph ---- */

/* No pointer that keeps anything alive: as tpa_holders_skip. */
bool tpa_python_skips(struct tpa_holders_python *python, struct tpa_holders_graph *graph, uint32_t vertex, uint64_t at,
		      size_t target, uint64_t value);

/* An object that the garbage collector knows: it lives, though nothing leads to it. */
bool tpa_python_is_collected(const struct tpa_holders_block *block);

/* Fills *type for an object, or a part of one. False: the block is neither. */
bool tpa_python_describe(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
			 struct tpa_holders_type *type);

/* The name by which the vertex is held by its parent. "": it has none. */
void tpa_python_edge(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
		     char *name, size_t size);

/* Which variable of a function that is. "": none is known. */
void tpa_python_local(struct tpa_holders_python *python, uint64_t code, uint64_t i, char *name, size_t size);

/* How many variables a function has: locals, cells and those from around it. */
uint64_t tpa_python_count_locals(struct tpa_holders_python *python, uint64_t code);

#endif
