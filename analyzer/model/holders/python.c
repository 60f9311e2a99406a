/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets that are the same in all versions that are read (3.9 to 3.15) are constants here: PyTypeObject, PyObject,
 * PyListObject, ...
 */
#include "model/holders/python.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TYPE 8	/* PyObject */
#define NAME 24 /* PyTypeObject */
#define BASE_SIZE 32
#define ITEM_SIZE 40
#define FLAGS 168
#define WEAK_OFFSET 208
#define BASE 256
#define DICT_OFFSET 288
#define LONG_SUBCLASS 24 /* numbers of bits in the flags */
#define LIST_SUBCLASS 25
#define TUPLE_SUBCLASS 26
#define BYTES_SUBCLASS 27
#define UNICODE_SUBCLASS 28
#define DICT_SUBCLASS 29
#define TYPE_SUBCLASS 31
#define HAVE_GC (UINT64_C(1) << 14)
#define MANAGED_WEAKREF (UINT64_C(1) << 3)
#define GC_HEAD 16
#define OWN_HEAD 16 /* pointers to the dict, and to the values or the weak references */
#define MISSES 65536u
#define BASES_MOST 32
#define SIZE_MOST (UINT64_C(1) << 20)
#define KEYS_MOST (UINT64_C(1) << 32)

static uint64_t word(struct tpa_holders_python *python, uint64_t address)
{
	return tpa_holders_word(python->memory, address);
}

bool tpa_python_init(struct tpa_holders_python *python, struct tpa_holders_memory *memory)
{
	const struct tprof_python *of = &memory->frozen->note->python;

	*python = (struct tpa_holders_python){ .memory = memory, .of = of };
	if (!of->runtime || !of->type_type)
		return false;
	python->misses = tpa_zalloc(MISSES, sizeof(*python->misses));
	tpa_grow(&python->types, &python->type_room, 1, sizeof(*python->types));
	python->types[python->type_count++] = tpa_zalloc(1, sizeof(**python->types));
	return true;
}

void tpa_python_free(struct tpa_holders_python *python)
{
	for (size_t i = 0; i < python->type_count; i++)
		free(python->types[i]);
	tpa_pairs_free(&python->numbers);
	free(python->types);
	free(python->misses);
	free(python->areas);
	free(python->arenas);
}

/* ---- types ---- */

/* Reads a C string in UTF-8. False: it is empty, too long, or has control characters. */
static bool read_name(struct tpa_holders_python *python, uint64_t address, char *name, size_t size)
{
	for (size_t i = 0; address && i + 1 < size; i++) {
		tpa_holders_copy(python->memory, address + i, &name[i], 1);
		if (!name[i])
			return i > 0;
		if ((unsigned char)name[i] < ' ')
			return false;
		name[i + 1] = 0;
	}
	return address != 0;
}

static bool is_metatype(struct tpa_holders_python *python, uint64_t address)
{
	return address == python->of->type_type ||
	       (address && address % 8 == 0 && word(python, address + FLAGS) >> TYPE_SUBCLASS & 1 &&
		(word(python, address + TYPE) == python->of->type_type ||
		 word(python, word(python, address + TYPE) + FLAGS) >> TYPE_SUBCLASS & 1));
}

static enum tpa_python_kind kind_by_name(const char *name)
{
	static const struct {
		const char *name;
		enum tpa_python_kind kind;
	} known[] = {
		{ "module", TPA_PYTHON_MODULE },
		{ "set", TPA_PYTHON_SET },
		{ "frozenset", TPA_PYTHON_SET },
		{ "function", TPA_PYTHON_FUNCTION },
		{ "code", TPA_PYTHON_CODE },
		{ "cell", TPA_PYTHON_CELL },
		{ "frame", TPA_PYTHON_FRAME },
		{ "generator", TPA_PYTHON_GENERATOR },
		{ "coroutine", TPA_PYTHON_GENERATOR },
		{ "async_generator", TPA_PYTHON_GENERATOR },
		{ "weakref", TPA_PYTHON_WEAKREF },
		{ "weakproxy", TPA_PYTHON_WEAKREF },
		{ "weakcallableproxy", TPA_PYTHON_WEAKREF },
		{ "weakref.ReferenceType", TPA_PYTHON_WEAKREF },
		{ "weakref.ProxyType", TPA_PYTHON_WEAKREF },
		{ "weakref.CallableProxyType", TPA_PYTHON_WEAKREF },
		{ "functools._lru_list_elem", TPA_PYTHON_LRU_LINK },
		{ "float", TPA_PYTHON_LEAF },
		{ "complex", TPA_PYTHON_LEAF },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].kind;
	return TPA_PYTHON_OTHER;
}

/* The kind of a type, by its own flags or name, or by what it is derived from. */
static enum tpa_python_kind kind_of(struct tpa_holders_python *python, const struct tpa_python_type *type)
{
	static const struct {
		uint8_t bit, kind;
	} by_flag[] = {
		{ DICT_SUBCLASS, TPA_PYTHON_DICT },    { LIST_SUBCLASS, TPA_PYTHON_LIST },
		{ TUPLE_SUBCLASS, TPA_PYTHON_TUPLE },  { TYPE_SUBCLASS, TPA_PYTHON_TYPE },
		{ LONG_SUBCLASS, TPA_PYTHON_LEAF },    { BYTES_SUBCLASS, TPA_PYTHON_LEAF },
		{ UNICODE_SUBCLASS, TPA_PYTHON_LEAF },
	};
	enum tpa_python_kind kind = TPA_PYTHON_OTHER;
	char name[128];
	uint64_t at = type->address;

	for (size_t i = 0; kind == TPA_PYTHON_OTHER && i < sizeof(by_flag) / sizeof(*by_flag); i++)
		if (type->flags >> by_flag[i].bit & 1)
			kind = by_flag[i].kind;
	for (int i = 0; kind == TPA_PYTHON_OTHER && at && i < BASES_MOST; i++) {
		/* A class that a program named "set" is not a set */
		if (!(word(python, at + FLAGS) & TPA_PYTHON_HEAP_TYPE) || strchr(type->name, '.'))
			kind = read_name(python, word(python, at + NAME), name, sizeof(name)) ? kind_by_name(name)
											      : kind;
		at = word(python, at + BASE);
	}
	/* An object of a program's own class has attributes, so it is no leaf */
	return kind == TPA_PYTHON_LEAF && type->flags & TPA_PYTHON_HEAP_TYPE ? TPA_PYTHON_OTHER : kind;
}

static uint8_t head_of(const struct tpa_holders_python *python, uint64_t flags)
{
	bool own = python->of->version >= 0x030b && flags & (TPA_PYTHON_MANAGED_DICT | MANAGED_WEAKREF);

	return (uint8_t)((flags & HAVE_GC ? GC_HEAD : 0) + (own ? OWN_HEAD : 0));
}

static uint32_t add_type(struct tpa_holders_python *python, uint64_t address)
{
	struct tpa_python_type type = { .address = address,
					.flags = word(python, address + FLAGS),
					.base_size = word(python, address + BASE_SIZE),
					.item_size = word(python, address + ITEM_SIZE),
					.base = word(python, address + BASE),
					.dict_offset = (int64_t)word(python, address + DICT_OFFSET),
					.weak_offset = (int64_t)word(python, address + WEAK_OFFSET) };

	if (type.base_size < 16 || type.base_size > SIZE_MOST ||
	    !read_name(python, word(python, address + NAME), type.name, sizeof(type.name)))
		return 0;
	type.kind = (uint8_t)kind_of(python, &type);
	type.head = head_of(python, type.flags);
	tpa_grow(&python->types, &python->type_room, python->type_count + 1, sizeof(*python->types));
	python->types[python->type_count] = tpa_copy(&type, sizeof(type));
	return (uint32_t)python->type_count++;
}

uint32_t tpa_python_type_at(struct tpa_holders_python *python, uint64_t address)
{
	uint64_t *miss = &python->misses[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % MISSES];
	uint32_t number;
	bool found;

	if (address < 4096 || address % 8 || *miss == address)
		return 0;
	number = tpa_pairs_find(&python->numbers, address, 0);
	if (number)
		return number;
	number = is_metatype(python, word(python, address + TYPE)) ? add_type(python, address) : 0;
	if (number)
		*tpa_pairs_at(&python->numbers, address, 0, &found) = number;
	else
		*miss = address;
	return number;
}

const struct tpa_python_type *tpa_python_type_of(struct tpa_holders_python *python, uint64_t object)
{
	uint32_t type = object && object % 8 == 0 ? tpa_python_type_at(python, word(python, object + TYPE)) : 0;

	return python->types[type]; /* the search above may have moved the table */
}

/* ---- objects ---- */

/* Can this be a count of references? From 3.14 on, the upper half has flags. */
static bool is_count(const struct tpa_holders_python *python, uint64_t count)
{
	if (!(count & UINT32_MAX))
		return false;
	return python->of->version < 0x030e ? count >> 32 == 0 : (count >> 32 & 0xffff) == 0;
}

/*
 * Is the block as large as such an object, except for rounding? This tells objects from what earlier ones left in the
 * block.
 */
static bool fits(const struct tpa_python_type *type, const struct tpa_holders_block *block, uint64_t items)
{
	uint64_t size = type->head + type->base_size;

	if (type->kind == TPA_PYTHON_LEAF) /* a str may lack its last fields */
		return true;
	if (type->kind == TPA_PYTHON_TUPLE)
		size += 8 * items;
	else if (type->item_size || type->flags & TPA_PYTHON_INLINE_VALUES)
		return size <= block->size;
	return size <= block->size && block->size - size < GC_HEAD;
}

static void classify(struct tpa_holders_python *python, struct tpa_holders_block *block)
{
	uint64_t words[7] = { 0 };
	size_t bytes = block->size < sizeof(words) ? (size_t)block->size : sizeof(words);

	if (block->address % 8 || bytes < 16)
		return;
	tpa_holders_copy(python->memory, block->address, words, bytes);
	for (unsigned head = 0; head <= GC_HEAD + OWN_HEAD; head += GC_HEAD) {
		uint32_t number;

		if (head + 16 > bytes || (words[head / 8] && !is_count(python, words[head / 8])))
			continue;
		number = tpa_python_type_at(python, words[head / 8 + 1]);
		if (!number || python->types[number]->head != head ||
		    !fits(python->types[number], block, head / 8 + 2 < bytes / 8 ? words[head / 8 + 2] : 0))
			continue;
		if (!words[head / 8]) { /* freed, and kept for the next object of its type */
			block->cut = head && !(python->types[number]->flags & TPA_PYTHON_INLINE_VALUES);
			return;
		}
		block->type = number;
		block->head = (uint8_t)head;
		block->cut = python->types[number]->kind == TPA_PYTHON_LEAF;
		return;
	}
}

static void own_tables(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count,
		       const struct tpa_holders_block *block)
{
	static const struct {
		uint8_t kind, offset;
	} tables[] = { { TPA_PYTHON_LIST, TPA_PYTHON_LIST_ITEMS },
		       { TPA_PYTHON_SET, TPA_PYTHON_SET_TABLE },
		       { TPA_PYTHON_DICT, TPA_PYTHON_DICT_KEYS },
		       { TPA_PYTHON_DICT, TPA_PYTHON_DICT_VALUES } };

	for (size_t i = 0; block->type && i < sizeof(tables) / sizeof(*tables); i++) {
		size_t table;

		if (python->types[block->type]->kind != tables[i].kind)
			continue;
		table = tpa_holders_find(blocks, count, word(python, tpa_python_object(block) + tables[i].offset));
		if (table != SIZE_MAX && !blocks[table].type)
			blocks[table].owned = true;
	}
}

void tpa_python_classify(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		classify(python, &blocks[i]);
	for (size_t i = 0; i < count; i++)
		own_tables(python, blocks, count, &blocks[i]);
}

bool tpa_python_is_collected(const struct tpa_holders_block *block)
{
	return block->type && block->head >= GC_HEAD;
}

static size_t put_character(char *text, size_t at, size_t size, uint32_t c)
{
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	if (at + more + 1 >= size)
		return 0;
	text[at] = (char)(more ? (0xff00 >> (more + 1) & 0xff) | (c >> 6 * more) : c);
	for (size_t i = 1; i <= more; i++)
		text[at + i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
	return more + 1;
}

/* PyASCIIObject: the length, the hash, then bits: two for interned, three for the width, compact, ASCII. */
bool tpa_python_text(struct tpa_holders_python *python, uint64_t object, char *text, size_t size)
{
	const struct tpa_python_type *type = tpa_python_type_of(python, object);
	uint64_t length = word(python, object + 16), state = word(python, object + 32);
	unsigned width = state >> 2 & 7;
	uint64_t from = object + (state >> 6 & 1 ? python->of->str_ascii : python->of->str_other);
	size_t at = 0;

	text[0] = 0;
	if (!(type->flags >> UNICODE_SUBCLASS & 1) || !(state >> 5 & 1) || (width != 1 && width != 2 && width != 4))
		return false;
	for (uint64_t i = 0; i < length; i++) {
		uint32_t c = 0;
		size_t put;

		tpa_holders_copy(python->memory, from + i * width, &c, width);
		if (c < ' ' || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = '?';
		put = put_character(text, at, size, c);
		if (!put)
			break;
		at += put;
	}
	text[at] = 0;
	return true;
}

uint64_t tpa_python_item(struct tpa_holders_python *python, uint64_t tuple, uint64_t i)
{
	if (tpa_python_type_of(python, tuple)->kind != TPA_PYTHON_TUPLE || i >= word(python, tuple + 16))
		return 0;
	return word(python, tuple + python->of->tuple_items + 8 * i);
}

/* PyDictKeysObject. Up to 3.10 an entry is hash, key, value; later, tables with only str keys have no hash. */
bool tpa_python_keys_read(struct tpa_holders_python *python, uint64_t table, struct tpa_python_keys *keys)
{
	uint8_t bytes[4];
	uint64_t size = 0;

	if (!table || table % 8)
		return false;
	*keys = (struct tpa_python_keys){ .size = 24, .key = 8, .value = 16 };
	if (python->of->version < 0x030b) {
		size = word(python, table + 8);
		keys->count = word(python, table + 32);
		if (!size || size & (size - 1) || size > KEYS_MOST)
			return false;
		keys->entries = table + 40 +
				size * (size <= 0xff	     ? 1
					: size <= 0xffff     ? 2
					: size <= UINT32_MAX ? 4
							     : 8);
	} else {
		tpa_holders_copy(python->memory, table + 8, bytes, sizeof(bytes));
		if (bytes[0] > 40 || bytes[1] > 43 || bytes[2] > 2)
			return false;
		size = UINT64_C(1) << bytes[0];
		keys->count = word(python, table + 24);
		keys->entries = table + 32 + (UINT64_C(1) << bytes[1]);
		if (bytes[2])
			*keys = (struct tpa_python_keys){ keys->entries, keys->count, 16, 0, 8 };
	}
	return keys->count <= size;
}

uint64_t tpa_python_key(struct tpa_holders_python *python, const struct tpa_python_keys *keys, uint64_t i)
{
	return i < keys->count ? word(python, keys->entries + i * keys->size + keys->key) : 0;
}
