/* SPDX-License-Identifier: Apache-2.0 */
/* The names by which one Python object holds another, and the words of objects that hold nothing. */
#include "model/holders/python.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ALLOCATED 16 /* number of items of a container */
#define MEMBERS 240  /* PyTypeObject */
#define BASE 256
#define MEMBER 40 /* bytes of a PyMemberDef: name, kind, offset */
#define MEMBERS_MOST 256
#define BASES_MOST 32
#define WEAKREF_OBJECT 16 /* PyWeakReference: the object, and below the list of other references to it */
#define WEAKREF_PREVIOUS 40
#define WEAKREF_NEXT 48
#define KEY_TEXT 44
#define INTERNED_LEAST 100
#define SPLIT_KEYS_FROM 856 /* PyHeapTypeObject: ht_cached_keys is one of these words */
#define SPLIT_KEYS_TO 920
#define GENERATOR_FRAME_FROM 48
#define GENERATOR_FRAME_TO 104
#define FRAME_MOST 65536 /* maximum size of a frame, from its object on */
#define STACK_TOP_9 72	 /* PyFrameObject: a pointer, 0 while the frame runs; 3.10 has a number */
#define STACK_DEPTH_10 80

struct edge {
	struct tpa_holders_python *python;
	const struct tpa_holders_graph *graph;
	uint32_t vertex, parent;
	uint64_t via;			    /* the word that points to the vertex */
	uint64_t object;		    /* the parent; 0: not an object */
	const struct tpa_python_type *type; /* of the parent */
	uint64_t offset;		    /* of that word in the parent */
};

static uint64_t word(struct tpa_holders_python *python, uint64_t address)
{
	return tpa_holders_word(python->memory, address);
}

static struct edge edge_to(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex)
{
	struct edge edge = { python, graph, vertex, graph->parent[vertex], graph->via[vertex], 0, python->types[0], 0 };

	if (edge.parent == TPA_NO_VERTEX || !tpa_holders_is_block(graph, edge.parent))
		return edge;
	if (tpa_holders_block_of(graph, edge.parent)->type) {
		const struct tpa_holders_block *block = tpa_holders_block_of(graph, edge.parent);

		edge.object = tpa_python_object(block);
		edge.type = python->types[block->type];
		edge.offset = edge.via - edge.object;
	}
	return edge;
}

static bool holds_values(const struct edge *edge)
{
	return edge->type->flags & TPA_PYTHON_MANAGED_DICT &&
	       edge->offset ==
		       (uint64_t)(edge->python->of->version == 0x030b ? -TPA_PYTHON_OWN_VALUES : -TPA_PYTHON_OWN_DICT);
}

/* Is it the edge from an object to the dict of its attributes? */
static bool is_attributes(const struct edge *edge)
{
	const struct tpa_python_type *type = edge->type;

	if (!edge->object)
		return false;
	if (type->kind == TPA_PYTHON_TYPE && edge->offset == TPA_PYTHON_TYPE_DICT)
		return true;
	if (type->kind == TPA_PYTHON_MODULE && edge->offset == TPA_PYTHON_MODULE_DICT)
		return true;
	if (type->flags & TPA_PYTHON_MANAGED_DICT && edge->offset == (uint64_t)-TPA_PYTHON_OWN_DICT)
		return true;
	return type->dict_offset > 0 && edge->offset == (uint64_t)type->dict_offset;
}

static uint64_t closure_of(const struct edge *edge)
{
	return edge->python->of->version < 0x030a ? 48 : 72;
}

static bool is_closure(const struct edge *edge)
{
	return edge->type->kind == TPA_PYTHON_FUNCTION && edge->offset == closure_of(edge);
}

/* Is it the edge from an object to its table, a block that is no object itself? */
static bool is_table(const struct edge *edge)
{
	switch (edge->type->kind) {
	case TPA_PYTHON_LIST:
		return edge->offset == TPA_PYTHON_LIST_ITEMS;
	case TPA_PYTHON_SET:
		return edge->offset == TPA_PYTHON_SET_TABLE;
	case TPA_PYTHON_DICT:
		return edge->offset == TPA_PYTHON_DICT_KEYS || edge->offset == TPA_PYTHON_DICT_VALUES;
	default:
		return edge->object && holds_values(edge);
	}
}

static bool is_part(const struct edge *edge, const struct tpa_holders_block *block)
{
	const struct tpa_python_type *type = edge->python->types[block->type];

	if (!block->type)
		return is_table(edge);
	if (type->kind == TPA_PYTHON_DICT)
		return is_attributes(edge);
	if (type->kind == TPA_PYTHON_TUPLE)
		return is_closure(edge);
	if (type->kind == TPA_PYTHON_CELL && edge->type->kind == TPA_PYTHON_TUPLE) {
		struct edge above = edge_to(edge->python, edge->graph, edge->parent);

		return is_closure(&above);
	}
	return false;
}

/* Is it the interpreter's own dict of strings, in which each key is its value? */
static bool is_interned(struct tpa_holders_python *python, uint64_t dict)
{
	struct tpa_python_keys keys;
	uint64_t seen = 0, key;

	if (!tpa_python_keys_read(python, word(python, dict + TPA_PYTHON_DICT_KEYS), &keys) ||
	    keys.count < INTERNED_LEAST)
		return false;
	for (uint64_t i = 0; i < keys.count && seen < INTERNED_LEAST; i++) {
		key = tpa_python_key(python, &keys, i);
		if (key && (word(python, keys.entries + i * keys.size + keys.value) != key ||
			    strcmp(tpa_python_type_of(python, key)->name, "str") != 0))
			return false;
		seen += key != 0;
	}
	return seen == INTERNED_LEAST;
}

bool tpa_python_describe(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
			 struct tpa_holders_type *type)
{
	const struct tpa_holders_block *block = tpa_holders_block_of(graph, vertex);
	struct edge edge = edge_to(python, graph, vertex);
	const struct tpa_python_type *is = python->types[block->type];

	*type = (struct tpa_holders_type){ .kind = TPROF_HOLDER_OBJECT, .part = is_part(&edge, block) };
	if (!block->type)
		return type->part;
	snprintf(type->name, sizeof(type->name), "%s%s", is->name,
		 is->kind == TPA_PYTHON_DICT && is_interned(python, tpa_python_object(block)) ? " of interned strings"
											      : "");
	if (is->kind == TPA_PYTHON_LIST || is->kind == TPA_PYTHON_TUPLE || is->kind == TPA_PYTHON_DICT)
		type->items = word(python, tpa_python_object(block) + ALLOCATED);
	if (is->kind == TPA_PYTHON_SET)
		type->items = word(python, tpa_python_object(block) + ALLOCATED + 8);
	return true;
}

/* ---- what holds nothing ---- */

/* Does the word at that offset of an object refer to another one without keeping it alive? */
static bool is_weak(const struct tpa_holders_python *python, const struct tpa_python_type *type, uint64_t offset)
{
	/* The garbage collector's list and weak references are weak; the dict and its values are not. */
	if ((int64_t)offset < 0)
		return (int64_t)offset >= -16 ||
		       (offset == (uint64_t)-TPA_PYTHON_OWN_VALUES && python->of->version > 0x030b);
	if (type->weak_offset > 0 && offset == (uint64_t)type->weak_offset)
		return true;
	if (type->kind == TPA_PYTHON_WEAKREF)
		return offset == WEAKREF_OBJECT || offset == WEAKREF_PREVIOUS || offset == WEAKREF_NEXT;
	/* Instructions cache what they found last */
	return type->kind == TPA_PYTHON_CODE && python->of->code_start && offset >= python->of->code_start;
}

/* ---- frames ---- */

/* The frame of a frame object or of a generator, which contains its frame from 3.11 on. 0: unknown. */
static uint64_t frame_in(struct tpa_holders_python *python, const struct tpa_python_type *type, uint64_t object)
{
	const struct tprof_python *of = python->of;

	if (type->kind == TPA_PYTHON_FRAME)
		return of->version < 0x030b ? object : word(python, object + TPA_PYTHON_FRAME_FRAME);
	for (uint64_t at = GENERATOR_FRAME_FROM; of->version >= 0x030b && at < GENERATOR_FRAME_TO; at += 8) {
		uint64_t code = word(python, object + at + of->frame_code) & ~UINT64_C(7);

		if (tpa_python_type_of(python, code)->kind == TPA_PYTHON_CODE)
			return object + at;
	}
	return 0;
}

/* The end of the words of a frame that are in use: its variables, and its evaluation stack while it waits. */
static uint64_t frame_end(struct tpa_holders_python *python, uint64_t frame)
{
	const struct tprof_python *of = python->of;
	uint64_t locals = frame + of->frame_locals, code = word(python, frame + of->frame_code);
	uint64_t count = tpa_python_count_locals(python, code);
	int32_t depth = 0;

	if (of->version >= 0x030e)
		return UINT64_MAX;
	if (of->version == 0x0309 && word(python, frame + STACK_TOP_9))
		return word(python, frame + STACK_TOP_9);
	if (of->version == 0x0309)
		return locals + 8 * count;
	tpa_holders_copy(python->memory, of->version == 0x030a ? frame + STACK_DEPTH_10 : locals - 8, &depth,
			 sizeof(depth));
	if (of->version == 0x030a)
		return locals + 8 * (count + (depth > 0 ? (uint64_t)depth : 0));
	return locals + 8 * (depth > (int64_t)count ? (uint64_t)depth : count);
}

/*
 * The offset of the end of an object. Its block may be larger, and the rest may contain anything. UINT64_MAX: unknown.
 */
static uint64_t end_of(struct tpa_holders_python *python, const struct tpa_python_type *type, uint64_t object)
{
	uint8_t values = 0;

	if (type->kind == TPA_PYTHON_TUPLE)
		return python->of->tuple_items + 8 * word(python, object + ALLOCATED);
	if (type->kind == TPA_PYTHON_FRAME || type->kind == TPA_PYTHON_GENERATOR) {
		uint64_t frame = frame_in(python, type, object), end = frame ? frame_end(python, frame) : 0;

		return end > object && frame - object < FRAME_MOST ? end - object : UINT64_MAX;
	}
	if (type->item_size)
		return UINT64_MAX;
	if (python->of->version < 0x030d || !(type->flags & TPA_PYTHON_INLINE_VALUES))
		return type->base_size;
	tpa_holders_copy(python->memory, object + type->base_size, &values, 1);
	return type->base_size + 8 + 8 * (uint64_t)values;
}

/* Is the word behind the last item of a list, or the last value of a dict? */
static bool is_behind_items(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
			    uint64_t at)
{
	struct edge edge = edge_to(python, graph, vertex);
	struct tpa_python_keys keys;

	if (edge.type->kind == TPA_PYTHON_LIST && edge.offset == TPA_PYTHON_LIST_ITEMS)
		return at >= word(python, edge.via) + 8 * word(python, edge.object + ALLOCATED);
	return edge.type->kind == TPA_PYTHON_DICT && edge.offset == TPA_PYTHON_DICT_VALUES &&
	       tpa_python_keys_read(python, word(python, edge.object + TPA_PYTHON_DICT_KEYS), &keys) &&
	       at >= word(python, edge.via) + (python->of->version < 0x030d ? 0 : 8) + 8 * keys.count;
}

/*
 * Does the pointer to a table come from something else than its object? The table may even have been freed, and kept
 * for the next dict.
 */
static bool is_no_owner(struct tpa_holders_python *python, const struct tpa_holders_block *from,
			const struct tpa_holders_block *to)
{
	unsigned kind = from ? python->types[from->type]->kind : TPA_PYTHON_OTHER;
	struct tpa_python_keys keys;

	if (to->type || kind == TPA_PYTHON_DICT || kind == TPA_PYTHON_TYPE || kind == TPA_PYTHON_LIST ||
	    kind == TPA_PYTHON_SET)
		return false;
	if (to->owned)
		return true;
	return to->inner && tpa_python_keys_read(python, to->address, &keys) && keys.count &&
	       keys.count <= to->size / keys.size &&
	       tpa_python_type_of(python, tpa_python_key(python, &keys, 0))->address;
}

static bool points_to(const struct tpa_holders_python *python, uint64_t value, uint64_t object)
{
	return value == object || (python->of->version >= 0x030e && (value & ~UINT64_C(7)) == object);
}

bool tpa_python_skips(struct tpa_holders_python *python, struct tpa_holders_graph *graph, uint32_t vertex, uint64_t at,
		      size_t target, uint64_t value)
{
	struct tpa_holders_block *to = &graph->blocks[target],
				 *block = vertex ? tpa_holders_block_of(graph, vertex) : NULL;
	uint64_t object = tpa_python_object(to);
	const struct tpa_python_type *type;
	uint64_t offset;

	if ((to->type && value < object) /* the garbage collector's list */ || is_no_owner(python, block, to))
		return true;
	if (!block)
		return false;
	if (!block->type)
		return is_behind_items(python, graph, vertex, at);
	type = python->types[block->type];
	offset = at - tpa_python_object(block);
	if (is_weak(python, type, offset) ||
	    ((int64_t)offset >= 0 && offset >= end_of(python, type, tpa_python_object(block))))
		return true;
	if (type->kind == TPA_PYTHON_CODE && !to->type)
		to->cut = true; /* up to 3.10, such caches are a block of their own */
	/* A dict holds the links of an lru_cache, which also form a list. */
	return to->type && (!points_to(python, value, object) || python->types[to->type]->kind == TPA_PYTHON_LRU_LINK);
}

/* ---- names ---- */

void tpa_python_local(struct tpa_holders_python *python, uint64_t code, uint64_t i, char *name, size_t size)
{
	static const uint64_t order[] = { 0, 16, 8 }; /* varnames, cellvars, freevars */
	uint64_t names = code + python->of->code_names;

	name[0] = 0;
	if (python->of->version >= 0x030b) {
		tpa_python_text(python, tpa_python_item(python, word(python, names), i), name, size);
		return;
	}
	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
		uint64_t tuple = word(python, names + order[k]), count = word(python, tuple + ALLOCATED);

		if (i < count) {
			tpa_python_text(python, tpa_python_item(python, tuple, i), name, size);
			return;
		}
		i -= count;
	}
}

/* Names free variable i of a function. The free variables are the last ones of all its variables. */
static void name_free_variable(struct tpa_holders_python *python, uint64_t code, uint64_t closure, uint64_t i,
			       char *name, size_t size)
{
	uint64_t names = code + python->of->code_names, tuple;

	name[0] = 0;
	if (python->of->version < 0x030b) {
		tpa_python_text(python, tpa_python_item(python, word(python, names + 8), i), name, size);
		return;
	}
	tuple = word(python, names);
	i += word(python, tuple + ALLOCATED) - word(python, closure + ALLOCATED);
	tpa_python_text(python, tpa_python_item(python, tuple, i), name, size);
}

/* PyLongObject: the number of 30-bit digits, with the sign, which 3.12 moved to the lowest bits. */
static bool read_number(struct tpa_holders_python *python, uint64_t object, int64_t *number)
{
	uint64_t sizes = word(python, object + ALLOCATED), low = word(python, object + 24);
	bool negative = python->of->version < 0x030c ? (int64_t)sizes < 0 : (sizes & 3) == 2;
	uint64_t digits = python->of->version >= 0x030c ? sizes >> 3 : negative ? -sizes : sizes;

	if (digits > 2)
		return false;
	*number = digits ? (int64_t)(low & 0x3fffffff) : 0;
	if (digits == 2)
		*number |= (int64_t)(low >> 32 & 0x3fffffff) << 30;
	if (negative)
		*number = -*number;
	return true;
}

static void name_key(struct tpa_holders_python *python, uint64_t key, bool attributes, char *name, size_t size)
{
	const struct tpa_python_type *type = tpa_python_type_of(python, key);
	char text[KEY_TEXT];
	int64_t number;

	if (tpa_python_text(python, key, text, sizeof(text)))
		snprintf(name, size, attributes ? ".%s" : "[\"%s\"]", text);
	else if (strcmp(type->name, "int") == 0 && read_number(python, key, &number))
		snprintf(name, size, "[%" PRId64 "]", number);
	else if (type->name[0])
		snprintf(name, size, "[a %s]", type->name);
}

/* Finds the names of the attributes of a type's objects that have no table of keys of their own. */
static bool split_keys(struct tpa_holders_python *python, const struct tpa_python_type *type,
		       struct tpa_python_keys *keys)
{
	for (uint64_t at = SPLIT_KEYS_FROM; at < SPLIT_KEYS_TO; at += 8) {
		uint64_t table = word(python, type->address + at);

		if (!(type->flags & TPA_PYTHON_HEAP_TYPE) || !tpa_python_keys_read(python, table, keys) || !keys->count)
			continue;
		if (tpa_python_text(python, tpa_python_key(python, keys, 0), (char[4]){ 0 }, 4))
			return true;
	}
	return false;
}

static void name_attribute(struct tpa_holders_python *python, const struct tpa_python_type *type, uint64_t i,
			   char *name, size_t size)
{
	struct tpa_python_keys keys;

	if (split_keys(python, type, &keys))
		name_key(python, tpa_python_key(python, &keys, i), true, name, size);
}

/* Names the value, or the key, in a dict's table. */
static void name_dict_item(const struct edge *table, uint64_t via, char *name, size_t size)
{
	struct edge above = edge_to(table->python, table->graph, table->parent);
	bool attributes = is_attributes(&above);
	struct tpa_python_keys keys;
	uint64_t i;

	if (!tpa_python_keys_read(table->python, word(table->python, table->object + TPA_PYTHON_DICT_KEYS), &keys))
		return;
	if (table->offset == TPA_PYTHON_DICT_VALUES)
		i = (via - word(table->python, table->via) - (table->python->of->version < 0x030d ? 0 : 8)) / 8;
	else
		i = (via - keys.entries) / keys.size;
	name_key(table->python, tpa_python_key(table->python, &keys, i), attributes, name, size);
}

/* 3.12 stores the address less 1, to tell it from the address of a dict. */
static uint64_t values_in(uint64_t word)
{
	return word + (word & 1);
}

/* Names an item of a table that belongs to an object. */
static void name_item(const struct edge *table, uint64_t via, char *name, size_t size)
{
	struct tpa_holders_python *python = table->python;

	if (table->type->kind == TPA_PYTHON_LIST)
		snprintf(name, size, "[%" PRIu64 "]", (via - word(python, table->via)) / 8);
	else if (table->type->kind == TPA_PYTHON_DICT)
		name_dict_item(table, via, name, size);
	else if (holds_values(table))
		name_attribute(python, table->type, (via - values_in(word(python, table->via))) / 8, name, size);
}

/* Names a field by the type's table of members, which also contains slots: a name and an offset each. */
static bool name_member(const struct edge *edge, char *name, size_t size)
{
	struct tpa_holders_python *python = edge->python;
	uint64_t type = edge->type->address;

	for (int i = 0; type && i < BASES_MOST; i++, type = word(python, type + BASE)) {
		uint64_t at = word(python, type + MEMBERS), text;

		for (int k = 0; at && k < MEMBERS_MOST && (text = word(python, at)); k++, at += MEMBER) {
			char member[KEY_TEXT];

			if (word(python, at + 16) != edge->offset ||
			    !tpa_holders_text(python->memory, text, member, sizeof(member)))
				continue;
			snprintf(name, size, ".%s", member);
			return true;
		}
	}
	return false;
}

static void name_local(struct tpa_holders_python *python, uint64_t frame, uint64_t via, char *name, size_t size)
{
	uint64_t code = word(python, frame + python->of->frame_code) & ~UINT64_C(7),
		 locals = frame + python->of->frame_locals;
	char text[KEY_TEXT];

	if (!frame || tpa_python_type_of(python, code)->kind != TPA_PYTHON_CODE || via < locals)
		return;
	tpa_python_local(python, code, (via - locals) / 8, text, sizeof(text));
	if (text[0])
		snprintf(name, size, "local %s", text);
}

static void name_contents(const struct edge *cell, char *name, size_t size)
{
	struct edge tuple = edge_to(cell->python, cell->graph, cell->parent);
	struct edge function = tuple.object ? edge_to(cell->python, cell->graph, tuple.parent) : tuple;
	uint64_t code = cell->python->of->version < 0x030a ? 16 : 48;
	char text[KEY_TEXT];

	if (tuple.type->kind != TPA_PYTHON_TUPLE || !is_closure(&function))
		return;
	name_free_variable(cell->python, word(cell->python, function.object + code), tuple.object,
			   (tuple.offset - cell->python->of->tuple_items) / 8, text, sizeof(text));
	snprintf(name, size, "closure variable %s", text);
}

static void name_field(const struct edge *edge, char *name, size_t size)
{
	struct tpa_holders_python *python = edge->python;
	uint64_t values = edge->type->base_size + 8; /* after four bytes with their number, and padding */

	switch (edge->type->kind) {
	case TPA_PYTHON_TUPLE:
		if (edge->offset >= python->of->tuple_items)
			snprintf(name, size, "[%" PRIu64 "]", (edge->offset - python->of->tuple_items) / 8);
		return;
	case TPA_PYTHON_CELL:
		name_contents(edge, name, size);
		return;
	case TPA_PYTHON_GENERATOR:
	case TPA_PYTHON_FRAME:
		name_local(python, frame_in(python, edge->type, edge->object), edge->via, name, size);
		return;
	default:
		break;
	}
	if (!name_member(edge, name, size) && edge->type->flags & TPA_PYTHON_INLINE_VALUES &&
	    python->of->version >= 0x030d && (int64_t)edge->offset >= (int64_t)values)
		name_attribute(python, edge->type, (edge->offset - values) / 8, name, size);
}

void tpa_python_edge(struct tpa_holders_python *python, const struct tpa_holders_graph *graph, uint32_t vertex,
		     char *name, size_t size)
{
	struct edge edge = edge_to(python, graph, vertex), table;

	name[0] = 0;
	if (edge.object) {
		name_field(&edge, name, size);
		return;
	}
	if (edge.parent == TPA_NO_VERTEX || !tpa_holders_is_block(graph, edge.parent))
		return;
	table = edge_to(python, graph, edge.parent);
	if (is_table(&table))
		name_item(&table, edge.via, name, size);
}
