/* SPDX-License-Identifier: Apache-2.0 */
/* The roots of Python objects that have names: variables of modules, and of running functions. */
#include "model/holders/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

#define INTERPRETERS_MOST 64
#define THREADS_MOST 4096
#define FRAMES_MOST 10000
#define LOCALS_MOST 4096

static uint64_t word(struct tpa_holders_python *python, uint64_t address)
{
	return tpa_holders_word(python->memory, address);
}

static struct tpa_python_area *add_area(struct tpa_holders_python *python, uint64_t low, uint64_t high)
{
	struct tpa_python_area *area;

	area = TPA_APPEND(python->areas, python->area_count, python->area_room);
	*area = (struct tpa_python_area){ .low = low, .high = high };
	return area;
}

/* ---- modules ---- */

static void add_module(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count, uint64_t name,
		       uint64_t module)
{
	uint64_t dict = word(python, module + TPA_PYTHON_MODULE_DICT), table;
	struct tpa_python_area *area;
	struct tpa_python_keys keys;
	size_t block;

	if (tpa_python_type_of(python, module)->kind != TPA_PYTHON_MODULE ||
	    tpa_python_type_of(python, dict)->kind != TPA_PYTHON_DICT)
		return;
	table = word(python, dict + TPA_PYTHON_DICT_KEYS);
	block = tpa_holders_find(blocks, count, table);
	if (block == SIZE_MAX || blocks[block].cut || !tpa_python_keys_read(python, table, &keys) || !keys.count ||
	    keys.count > blocks[block].size / keys.size)
		return;
	blocks[block].cut = true; /* also marks it as done: a module may have several names */
	area = add_area(python, keys.entries, keys.entries + keys.count * keys.size);
	area->object = table;
	if (!tpa_python_text(python, name, area->name, sizeof(area->name)))
		snprintf(area->name, sizeof(area->name), "?");
	area->round = strcmp(area->name, "__main__") == 0 ? TPA_ROUND_NAMED : TPA_ROUND_STATIC;
}

static void add_modules(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count,
			uint64_t interpreter)
{
	uint64_t dict = word(python, interpreter + python->of->interpreter_modules);
	struct tpa_python_keys keys;

	if (tpa_python_type_of(python, dict)->kind != TPA_PYTHON_DICT ||
	    !tpa_python_keys_read(python, word(python, dict + TPA_PYTHON_DICT_KEYS), &keys))
		return;
	for (uint64_t i = 0; i < keys.count; i++)
		add_module(python, blocks, count, tpa_python_key(python, &keys, i),
			   word(python, keys.entries + i * keys.size + keys.value));
}

/* ---- frames ---- */

uint64_t tpa_python_count_locals(struct tpa_holders_python *python, uint64_t code)
{
	uint64_t count = 0;

	for (int i = 0; i < (python->of->version < 0x030b ? 3 : 1); i++)
		count += word(python, word(python, code + python->of->code_names + 8 * (uint64_t)i) + 16);
	return count < LOCALS_MOST ? count : LOCALS_MOST;
}

static void add_frame(struct tpa_holders_python *python, uint64_t frame)
{
	/* From 3.14 on, the lowest bits of such a pointer say how the reference is counted */
	uint64_t code = word(python, frame + python->of->frame_code) & ~UINT64_C(7), count;
	uint64_t locals = frame + python->of->frame_locals;
	struct tpa_python_area *area;

	if (tpa_python_type_of(python, code)->kind != TPA_PYTHON_CODE)
		return;
	count = tpa_python_count_locals(python, code);
	if (!count)
		return;
	area = add_area(python, locals, locals + 8 * count);
	area->object = code;
	area->locals = locals;
	area->round = TPA_ROUND_NAMED;
	if (!tpa_python_text(python, word(python, code + python->of->code_name), area->name, sizeof(area->name)))
		snprintf(area->name, sizeof(area->name), "?");
}

static uint64_t innermost(struct tpa_holders_python *python, uint64_t thread)
{
	uint64_t frame = word(python, thread + python->of->thread_frame);

	return python->of->cframe && frame ? word(python, frame + python->of->cframe - 1) : frame;
}

static void add_named(struct tpa_holders_python *python, uint64_t low, uint64_t high, unsigned round, const char *name)
{
	struct tpa_python_area *area;

	if (low >= high)
		return;
	area = add_area(python, low, high);
	area->round = (uint8_t)round;
	snprintf(area->name, sizeof(area->name), "%s", name);
}

/*
 * Adds the state of a thread or an interpreter as roots, if it is a block. Much of it caches what was found or freed
 * last, so it is searched last. `dict`: the address of the pointer to a thread's dict, or 0.
 */
static void add_state(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count, uint64_t state,
		      uint64_t dict)
{
	size_t i = tpa_holders_find(blocks, count, state);
	uint64_t low = i == SIZE_MAX ? 0 : blocks[i].address, high = i == SIZE_MAX ? 0 : low + blocks[i].size;

	if (dict)
		add_named(python, dict, dict + 8, TPA_ROUND_STATIC, "a thread's threading.local()");
	if (i == SIZE_MAX || blocks[i].cut)
		return;
	blocks[i].cut = true;
	if (dict)
		add_named(python, low, dict, TPA_ROUND_REST, "the interpreter's own state");
	add_named(python, dict ? dict + 8 : low, high, TPA_ROUND_REST, "the interpreter's own state");
}

static void add_thread(struct tpa_holders_python *python, uint64_t thread)
{
	uint64_t frame = innermost(python, thread);

	for (int i = 0; frame && i < FRAMES_MOST; i++, frame = word(python, frame + python->of->frame_previous))
		add_frame(python, frame);
}

/* ---- all ---- */

void tpa_python_find_roots(struct tpa_holders_python *python, struct tpa_holders_block *blocks, size_t count)
{
	const struct tprof_python *of = python->of;
	uint64_t interpreter = word(python, of->runtime + of->runtime_interpreters);

	for (int i = 0; interpreter && i < INTERPRETERS_MOST;
	     i++, interpreter = word(python, interpreter + of->interpreter_next)) {
		uint64_t thread = word(python, interpreter + of->interpreter_threads);

		add_modules(python, blocks, count, interpreter);
		add_state(python, blocks, count, interpreter, 0);
		for (int k = 0; thread && k < THREADS_MOST; k++, thread = word(python, thread + of->thread_next)) {
			add_thread(python, thread);
			add_state(python, blocks, count, thread, of->thread_dict ? thread + of->thread_dict : 0);
		}
	}
	TPA_SORT(python->areas, python->area_count, low);
}

void tpa_python_clip_root(const struct tpa_holders_python *python, uint64_t address, struct tpa_holders_root *root)
{
	size_t next = TPA_UP_TO(python->areas, python->area_count, low, address);

	if (next < python->area_count && root->high > python->areas[next].low)
		root->high = python->areas[next].low;
	if (next && root->low < python->areas[next - 1].high)
		root->low = python->areas[next - 1].high;
}

static void name_entry(struct tpa_holders_python *python, const struct tpa_python_area *area, uint64_t address,
		       struct tpa_holders_root *root)
{
	struct tpa_python_keys keys;
	char name[100];
	uint64_t i;

	if (!tpa_python_keys_read(python, area->object, &keys))
		return;
	i = (address - keys.entries) / keys.size;
	root->low = keys.entries + i * keys.size;
	root->high = root->low + keys.size;
	if (tpa_python_text(python, tpa_python_key(python, &keys, i), name, sizeof(name)))
		snprintf(root->name, sizeof(root->name), "%s.%s", area->name, name);
	else
		snprintf(root->name, sizeof(root->name), "%s", area->name);
}

bool tpa_python_name_root(struct tpa_holders_python *python, uint64_t address, struct tpa_holders_root *root)
{
	size_t before = TPA_UP_TO(python->areas, python->area_count, low, address);
	const struct tpa_python_area *area = before ? &python->areas[before - 1] : NULL;
	char name[100];

	if (!area || address >= area->high)
		return false;
	*root = (struct tpa_holders_root){ .low = address & ~UINT64_C(7), .high = (address & ~UINT64_C(7)) + 8 };
	root->kind = TPROF_HOLDER_PYTHON;
	root->round = area->round;
	if (!area->locals && area->object) {
		name_entry(python, area, address, root);
	} else if (!area->locals) {
		snprintf(root->name, sizeof(root->name), "%s", area->name);
	} else {
		tpa_python_local(python, area->object, (address - area->locals) / 8, name, sizeof(name));
		snprintf(root->name, sizeof(root->name), "local %s of %s()", name, area->name);
	}
	return true;
}
