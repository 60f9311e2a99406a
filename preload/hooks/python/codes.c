/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/codes.h"

#include "core/hash.h"
#include "core/space.h"
#include "core/tables.h"
#include "core/trylock.h"
#include "hooks/python/lines.h"
#include "hooks/python/strings.h"
#include "stacks/frames.h"
#include "stacks/nodes.h"

#define FIRST_CAPACITY 4096u
#define UNITS_MAX ((INT64_C(1) << 20) - 2) /* later instructions count as this one */
#define NAME_MAX_BYTES 512u
#define FILE_MAX_BYTES 2048u
#define LINES_MAX (1u << 24) /* bytes: the largest line table that is believed */

/* Keys that share the table of nodes with (parent, frame). */
#define KEY_PLACE (UINT64_C(4) << 60) /* code number << 21 | (unit + 1) << 1 | entry */
#define KEY_LINE (UINT64_C(5) << 60)  /* code number << 24 | line << 1 | entry */
#define KEY_CODE (UINT64_C(6) << 60)  /* hash of a code object's content */
#define KEY_DESERTED KEY_PLACE	      /* codes begin at 1 */

struct tpc_python_layout tpc_python;
uintptr_t tpc_python_code_type;
tpc_shared_u64 tpc_code_deaths;

static tpc_shared_u32 code_numbers; /* that were handed out */

/* ---- code objects that are alive, by address ---- */

struct slot {
	tpc_shared_u64 code;   /* address; 0: empty */
	tpc_shared_u32 number; /* 0: died, or not yet published */
};

struct table {
	uint64_t capacity; /* a power of two */
	tpc_shared_u64 used;
	struct slot slots[];
};

static TPC_SHARED(struct table *) table; /* begin_anew() pairs with the loads that acquire */
static tpc_shared_u32 changing;		 /* core/trylock.h: one thread at a time begins it anew */

static uint64_t hash(uint64_t code)
{
	return code * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static size_t bytes_of(uint64_t capacity)
{
	return sizeof(struct table) + capacity * sizeof(struct slot);
}

static struct slot *find_slot(struct table *in, uint64_t code)
{
	for (uint64_t i = hash(code); in; i++) {
		struct slot *slot = &in->slots[i & (in->capacity - 1)];
		uint64_t there = tpc_load_acquire(&slot->code);

		if (there == code || !there)
			return there ? slot : NULL;
	}
	return NULL;
}

/* False: the table is (nearly) full. */
static bool insert(struct table *to, uint64_t code, uint32_t number)
{
	if (tpc_load(&to->used) >= to->capacity / 4 * 3)
		return false;
	for (uint64_t i = hash(code);; i++) {
		struct slot *slot = &to->slots[i & (to->capacity - 1)];
		uint64_t there = tpc_load_acquire(&slot->code);

		if (!there && tpc_swap_if(&slot->code, 0, code))
			tpc_add(&to->used, 1);
		else if (there != code)
			continue;
		tpc_store_release(&slot->number, number); /* pairs with code_number(): its record is there */
		return true;
	}
}

/* Room for the live ones, three times over. */
static struct table *make_after(const struct table *old)
{
	uint64_t live = 0, capacity = FIRST_CAPACITY;
	struct table *made;

	for (uint64_t i = 0; old && i < old->capacity; i++)
		live += tpc_load(&old->slots[i].number) != 0;
	while (capacity < live * 4)
		capacity *= 2;
	made = tpc_space_take(bytes_of(capacity));
	if (made)
		made->capacity = capacity;
	return made;
}

/* Pairs with find_python() of stack.c: what was known of codes by address under the earlier count is looked up again. */
static void count_death(void)
{
	tpc_add_seq(&tpc_code_deaths, 1);
}

/*
 * Copies nothing: a code object that dies meanwhile would be alive in the copy for a moment. Live ones are looked up
 * again and keep their numbers.
 */
static TPC_SLOW void begin_anew(struct table *old)
{
	struct table *made;

	if (!tpc_trylock_take(&changing))
		return;
	made = old == tpc_load(&table) ? make_after(old) : NULL;
	if (made) {
		tpc_store_release(&table, made); /* pairs with code_number(): it is empty */
		count_death(); /* after it: who loads this count learns into the new table, where deaths are looked for */
		if (old)
			tpc_space_retire(old, bytes_of(old->capacity), sizeof(*old));
	}
	tpc_trylock_end(&changing);
}

/* A code object that does not fit is known by its address only until the next event. */
static void learn(uint64_t code, uint32_t number)
{
	struct table *to = tpc_load_acquire(&table);

	if (to && insert(to, code, number))
		return;
	begin_anew(to);
	to = tpc_load_acquire(&table);
	if (!to || !insert(to, code, number))
		count_death();
}

/* If it is not in this table it is unknown, or known by an earlier table, and its absence here was counted as a death. */
void tpc_code_died(uintptr_t code)
{
	struct slot *slot = find_slot(tpc_load_acquire(&table), code);

	if (slot && tpc_load(&slot->number)) {
		tpc_store(&slot->number, 0u);
		count_death();
	}
}

void tpc_codes_forget(void)
{
	struct table *all = tpc_unshared(table);

	if (all)
		tpc_space_give_back(all, bytes_of(all->capacity));
	tpc_unshared(table) = NULL;
	tpc_unshared(changing) = 0;
	tpc_unshared(code_numbers) = 0;
	tpc_unshared(tpc_code_deaths)++;
	tpc_lines_forget();
}

/* ---- what a code object is ---- */

struct content {
	struct tpc_string name, file;
	struct tpc_lines lines;
};

static bool read_lines(struct tpc_reader *reader, uintptr_t code, struct tpc_lines *lines)
{
	uintptr_t bytes = tpc_read_word(reader, code + tpc_python.code_lines);

	*lines = (struct tpc_lines){ .kind = tpc_python.lines };
	lines->first = tpc_read_int(reader, code + tpc_python.code_first_line);
	if (!bytes)
		return false;
	lines->length = tpc_read_word(reader, bytes + TPC_BYTES_LENGTH);
	lines->bytes = (const uint8_t *)bytes + TPC_BYTES_TEXT;
	return !reader->bad && lines->length < LINES_MAX &&
	       tpc_may_read_all(reader, bytes + TPC_BYTES_TEXT, lines->length);
}

static bool read_content(struct tpc_reader *reader, uintptr_t code, struct content *content)
{
	return tpc_string_read(reader, tpc_read_word(reader, code + tpc_python.code_name), &content->name) &&
	       tpc_string_read(reader, tpc_read_word(reader, code + tpc_python.code_file), &content->file) &&
	       read_lines(reader, code, &content->lines);
}

static uint64_t hash_string(uint64_t hash, const struct tpc_string *string)
{
	return tpc_hash_bytes(hash, string->bytes, string->length * string->width);
}

static uint64_t hash_of(const struct content *content)
{
	uint64_t hash = tpc_hash_word(0, (uint32_t)content->lines.first);

	hash = tpc_hash_bytes(hash, content->lines.bytes, content->lines.length);
	return hash_string(hash_string(hash, &content->name), &content->file);
}

static TPC_SLOW uint32_t make_code(struct tpc_reader *reader, uintptr_t code)
{
	char name[NAME_MAX_BYTES], file[FILE_MAX_BYTES]; /* a sample's stack has 16 KiB */
	struct tpc_code_record record = { .name = name, .file = file };
	struct content content;
	uint64_t key;
	uint32_t number;

	if (!read_content(reader, code, &content))
		return 0;
	key = KEY_CODE | hash_of(&content) >> 4;
	number = tpc_number_find(key);
	if (!number) {
		number = tpc_add(&code_numbers, 1) + 1;
		record.code = number;
		record.first_line = content.lines.first > 0 ? (uint32_t)content.lines.first : 0;
		record.name_length = tpc_string_put(&content.name, name, sizeof(name));
		record.file_length = tpc_string_put(&content.file, file, sizeof(file));
		tpc_table_code(&record);
		tpc_number_keep(key, number);
	}
	if (!reader->careful) /* the number of a dead one would never be withdrawn */
		learn(code, number);
	return number;
}

static uint32_t code_number(struct tpc_reader *reader, uintptr_t code)
{
	struct slot *slot = find_slot(tpc_load_acquire(&table), code);
	uint32_t number = slot ? tpc_load_acquire(&slot->number) : 0;

	return number ? number : make_code(reader, code);
}

/* ---- places in it ---- */

static int64_t unit_of(const struct tpc_python_place *place)
{
	int64_t unit;

	if (tpc_python.at_is_index)
		unit = (int32_t)(place->at >> 1) >> tpc_python.at_shift;
	else
		unit = ((int64_t)(place->at & ~(uintptr_t)1) - (int64_t)(place->code + tpc_python.code_start)) / 2;
	return unit < -1 ? -1 : unit > UNITS_MAX ? UNITS_MAX : unit;
}

static TPC_SLOW uint32_t make_place(struct tpc_reader *reader, const struct tpc_python_place *place, uint32_t code,
				    int64_t unit)
{
	bool entry = place->at & 1;
	struct tpc_lines lines;
	uint32_t line, frame;
	uint64_t key;

	if (!read_lines(reader, place->code, &lines))
		return 0;
	line = (uint32_t)tpc_line_find(&lines, code, unit);
	key = KEY_LINE | (uint64_t)code << 24 | (uint64_t)(line << 1 & 0xffffff) | entry;
	frame = tpc_number_find(key);
	if (!frame) {
		frame = tpc_frame_number();
		tpc_table_python(frame, code, line, entry ? TPROF_PYTHON_ENTRY : 0);
		tpc_number_keep(key, frame);
	}
	return frame;
}

/* Is it a code object? Nothing else is read. */
static bool is_code(struct tpc_reader *reader, uintptr_t code)
{
	return code && tpc_read_word(reader, code + TPC_OBJECT_TYPE) == tpc_python_code_type &&
	       (!reader->careful || tpc_may_read_all(reader, code, tpc_python.code_start));
}

/* The frame of a call of the loop that has no frame any more. */
static TPC_SLOW uint32_t deserted_frame(void)
{
	uint32_t frame = tpc_number_find(KEY_DESERTED);

	if (!frame) {
		frame = tpc_frame_number();
		tpc_table_python(frame, 0, 0, TPROF_PYTHON_ENTRY);
		tpc_number_keep(KEY_DESERTED, frame);
	}
	return frame;
}

uint32_t tpc_python_frame(struct tpc_reader *reader, const struct tpc_python_place *place)
{
	uint32_t code, frame;
	uint64_t key;
	int64_t unit;

	if (tpc_unlikely(!place->code && place->at == TPC_PYTHON_DESERTED))
		return deserted_frame();
	if (!is_code(reader, place->code))
		return 0;
	code = code_number(reader, place->code);
	if (!code)
		return 0;
	unit = unit_of(place);
	key = KEY_PLACE | (uint64_t)code << 21 | (uint64_t)(unit + 1) << 1 | (place->at & 1);
	frame = tpc_number_find(key);
	if (!frame) {
		frame = make_place(reader, place, code, unit);
		if (frame)
			tpc_number_keep(key, frame);
	}
	return frame;
}
