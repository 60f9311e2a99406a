/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a CPython interpreter in a frozen process: where they are, their types, and the names by which one
 * holds another. Offsets that depend on the version come from the collector (struct tprof_python). All memory is read
 * without trust: damaged objects give a wrong name at worst.
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
	uint8_t head; /* bytes in a block before the object, for the garbage collector and the dict */
	char name[128];
};

/* Memory whose words are Python variables, of a module or a frame. */
struct tpa_python_area {
	uint64_t low, high;
	uint64_t object; /* a module's table of keys, or a frame's code; 0: `name` is the whole name */
	char name[128];	 /* of the module or function */
	uint64_t locals; /* address of the first variable of a frame; 0: not a frame */
	uint8_t round;	 /* enum tpa_holders_round */
};

struct tpa_holders_python {
	struct tpa_holders_memory *memory;
	const struct tprof_python *of;
	struct tpa_python_type **types; /* [0]: not an object */
	size_t type_count, type_room;
	struct tpa_pairs numbers;      /* numbers of types, by address */
	uint64_t *misses;	       /* addresses that are known not to be types, by hash */
	struct tpa_python_area *areas; /* sorted by address once all are found */
	size_t area_count, area_room;
	struct tprof_range *arenas; /* of the interpreter's own allocator, by address */
	size_t arena_count, arena_room;
};

/* False: there is no interpreter that can be read. Otherwise to be freed by tpa_python_free(). */
bool tpa_python_init(struct tpa_holders_python *python, struct tpa_holders_memory *memory);
void tpa_python_free(struct tpa_holders_python *python);

/* ---- objects ---- */

/* The number of the type at an address; 0: there is none. */
uint32_t tpa_python_type_at(struct tpa_holders_python *python, uint64_t address);

/* The type of the object at an address; types[0] if there is none. Valid until tpa_python_free(). */
const struct tpa_python_type *tpa_python_type_of(struct tpa_holders_python *python, uint64_t object);

/* Finds out for each block whether it is an object, and of which type: sets type, head, cut and owned. */
void tpa_python_classify(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count);

static inline uint64_t tpa_python_object(const struct tpa_holders_block *block)
{
	return block->address + block->head;
}

/* Copies a str to `text` as UTF-8, cut if it is longer. False: the object is no str that can be read. */
bool tpa_python_text(struct tpa_holders_python *python, uint64_t object, char *text, size_t size);

/* Item i of a tuple, an object's address; 0: there is none. */
uint64_t tpa_python_item(struct tpa_holders_python *python, uint64_t tuple, uint64_t i);

/* Entries of a dict's table of keys: address, number and size, and the offsets of key and value in an entry. */
struct tpa_python_keys {
	uint64_t entries, count;
	uint32_t size, key, value;
};

/* Reads a table of keys. False: there is none. */
bool tpa_python_keys_read(struct tpa_holders_python *python, uint64_t table, struct tpa_python_keys *keys);
/* Key i of the table, an object's address; 0: there is none. */
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

/*
 * Bytes before an object that manages its dict itself, where the pointer to the dict is, or to its values (up to 3.12).
 */
#define TPA_PYTHON_OWN_DICT 24
#define TPA_PYTHON_OWN_VALUES 32

/* ---- where they lie ---- */

/*
 * Finds the blocks in the pools of the interpreter's allocator, whose arenas are some of the `mapped` ranges. Returns
 * `blocks` with these added, sorted by address, and frees the old list; updates *count. Blocks that the trace already
 * has stay as they are.
 */
struct tpa_holders_block *tpa_python_add_pools(struct tpa_holders_python *python, const struct tprof_range *mapped,
					       size_t mapped_count, struct tpa_holders_block *blocks, size_t *count);

/*
 * Finds the variables of modules and of running frames. Sets `cut` for the blocks with the modules' tables and the
 * interpreter's state, because their words are roots.
 */
void tpa_python_find_roots(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count);

/* Fills *root for the Python variable at an address. False: there is none. */
bool tpa_python_name_root(struct tpa_holders_python *python, uint64_t address, struct tpa_holders_root *root);

/* Removes Python variables from the addresses that belong to another root, the one at `address`. */
void tpa_python_clip_root(const struct tpa_holders_python *python, uint64_t address, struct tpa_holders_root *root);

/* ---- in the graph ---- */

/* Is the word known to keep nothing alive? As tpa_holders_skip. */
bool tpa_python_skips(struct tpa_holders_python *python, struct tpa_holders_graph *graph, uint32_t vertex, uint64_t at,
		      size_t target, uint64_t value);

/* Is the block an object that the garbage collector knows? It is alive even if nothing leads to it. */
bool tpa_python_is_collected(const struct tpa_holders_block *block);

/* Fills *type for an object, or a part of one. False: the block is neither. */
bool tpa_python_describe(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
			 struct tpa_holders_type *type);

/* Sets `name` to the name by which the parent holds the vertex; "": it has none. */
void tpa_python_edge(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
		     char *name, size_t size);

/* Sets `name` to the name of variable i of a function, given its code; "": unknown. */
void tpa_python_local(struct tpa_holders_python *python, uint64_t code, uint64_t i, char *name, size_t size);

/* The number of variables of a function: locals, cells and free variables. */
uint64_t tpa_python_count_locals(struct tpa_holders_python *python, uint64_t code);

#endif
