/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "impl.h"

void gen_module(struct gen *gen, uint32_t module, uint64_t bias, uint64_t start, uint64_t end, const char *path)
{
	tg_number(gen, module);
	tg_number(gen, bias);
	tg_number(gen, start);
	tg_number(gen, end);
	tg_number(gen, gen->header.start.ticks);
	tg_byte(gen, 4);
	tg_bytes(gen, "\1\2\3\4", 4);
	tg_bytes(gen, path, strlen(path));
	tg_end_table(gen, TPROF_TABLE_MODULE);
}

void gen_unload(struct gen *gen, uint32_t module, uint64_t ticks)
{
	tg_number(gen, module);
	tg_number(gen, ticks);
	tg_end_table(gen, TPROF_TABLE_UNLOAD);
}

void gen_frame(struct gen *gen, uint32_t frame, uint32_t module, uint64_t offset, uint8_t flags)
{
	tg_number(gen, frame);
	tg_number(gen, module);
	tg_number(gen, offset);
	tg_byte(gen, flags);
	tg_end_table(gen, TPROF_TABLE_FRAME);
}

void gen_nodes(struct gen *gen, uint32_t first, uint32_t parent, const uint32_t *frames, size_t count)
{
	struct chunk *table = tg_table(gen, 32 + 5 * count);
	size_t i;

	tg_byte(gen, TPROF_CLASS_NODES + (count < 64 ? (unsigned)count * 4 : 0));
	if (count >= 64)
		tg_number(gen, count);
	tg_signed(gen, (int64_t)first - (int64_t)table->expected);
	tg_number(gen, parent < TPROF_NODE_FIRST ? parent * 2u + 1 : (first - parent) * 2u);
	for (i = 0; i < count; i++)
		tg_number(gen, frames[i]);
	table->expected = first + (uint32_t)count;
	tg_append(gen, table);
}

void gen_code(struct gen *gen, uint32_t code, uint32_t first_line, const char *name, const char *file)
{
	tg_number(gen, code);
	tg_number(gen, first_line);
	tg_number(gen, strlen(name));
	tg_bytes(gen, name, strlen(name));
	tg_bytes(gen, file, strlen(file));
	tg_end_table(gen, TPROF_TABLE_CODE);
}

void gen_python(struct gen *gen, uint32_t frame, uint32_t code, uint32_t line, uint8_t flags)
{
	tg_number(gen, frame);
	tg_number(gen, code);
	tg_number(gen, line);
	tg_byte(gen, flags);
	tg_end_table(gen, TPROF_TABLE_PYTHON);
}

void gen_join(struct gen *gen, uint32_t node, uint32_t native, uint32_t python)
{
	struct chunk *table = tg_table(gen, 32);
	unsigned tag = TPROF_CLASS_JOIN | (node != table->expected ? TPROF_JOIN_NODE : 0) |
		       (native + 1 != node ? TPROF_JOIN_NATIVE : 0) | (python != table->python ? TPROF_JOIN_PYTHON : 0);

	tg_byte(gen, tag);
	if (tag & TPROF_JOIN_NODE)
		tg_signed(gen, (int64_t)node - (int64_t)table->expected);
	if (tag & TPROF_JOIN_NATIVE)
		tg_number(gen, node - native);
	if (tag & TPROF_JOIN_PYTHON)
		tg_signed(gen, (int64_t)python - (int64_t)table->python);
	table->expected = node + 1;
	table->python = python;
	tg_append(gen, table);
}

void gen_op(struct gen *gen, uint32_t op, uint8_t origin, const char *category, const char *name)
{
	tg_number(gen, op);
	tg_byte(gen, origin);
	tg_byte(gen, (unsigned)strlen(category));
	tg_bytes(gen, category, strlen(category));
	tg_bytes(gen, name, strlen(name));
	tg_end_table(gen, TPROF_TABLE_OP);
}

void gen_op_code(struct gen *gen, uint32_t op, uint8_t origin, const char *category, uint32_t frame)
{
	tg_number(gen, op);
	tg_byte(gen, origin);
	tg_byte(gen, (unsigned)strlen(category));
	tg_bytes(gen, category, strlen(category));
	tg_number(gen, frame);
	tg_end_table(gen, TPROF_TABLE_OP_CODE);
}

void gen_shape(struct gen *gen, uint32_t op, const uint64_t *numbers, size_t count)
{
	tg_number(gen, op);
	for (size_t i = 0; i < count; i++)
		tg_number(gen, numbers[i]);
	tg_end_table(gen, TPROF_TABLE_SHAPE);
}

void gen_value(struct gen *gen, const char *name, uint64_t value)
{
	tg_number(gen, value);
	tg_bytes(gen, name, strlen(name));
	tg_end_table(gen, TPROF_TABLE_VALUE);
}

void gen_counter(struct gen *gen, uint32_t number, uint32_t error, uint8_t flags, const char *name)
{
	tg_number(gen, number);
	tg_number(gen, error);
	tg_byte(gen, flags);
	tg_bytes(gen, name, strlen(name));
	tg_end_table(gen, TPROF_TABLE_COUNTER);
}

void gen_hooks(struct gen *gen, uint8_t state, uint64_t pointers, uint64_t functions, const char *object)
{
	tg_byte(gen, state);
	tg_number(gen, pointers);
	tg_number(gen, functions);
	tg_bytes(gen, object, strlen(object));
	tg_end_table(gen, TPROF_TABLE_HOOKS);
}

void gen_reach(struct gen *gen, uint64_t ticks, uint8_t reach, uint32_t node, uint32_t op, uint64_t blocks,
	       uint64_t bytes)
{
	tg_number(gen, ticks);
	tg_byte(gen, reach);
	tg_number(gen, node);
	tg_number(gen, op);
	tg_number(gen, blocks);
	tg_number(gen, bytes);
	tg_end_table(gen, TPROF_TABLE_REACH);
}
