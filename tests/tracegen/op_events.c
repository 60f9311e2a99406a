/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "impl.h"

void gen_op_begin(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 32);

	tg_byte(gen, TPROF_CLASS_OP);
	tg_time(gen, chunk, ticks);
	tg_number(gen, op);
	tg_append(gen, chunk);
}

void gen_op_end(struct gen *gen, uint32_t thread, uint64_t ticks, bool unwound)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 16);

	tg_byte(gen, TPROF_CLASS_OP | TPROF_OP_END | (unwound ? TPROF_OP_UNWOUND : 0));
	tg_time(gen, chunk, ticks);
	tg_append(gen, chunk);
}

void gen_op_end_outer(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t within)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 32);

	tg_byte(gen, TPROF_CLASS_OP | TPROF_OP_END | TPROF_OP_OUTER);
	tg_time(gen, chunk, ticks);
	tg_number(gen, within);
	tg_append(gen, chunk);
}

void gen_op_shape(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 48);

	tg_number(gen, op);
	tg_end(gen, chunk, TPROF_EVENT_SHAPE);
}

void gen_detail(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t flop, uint64_t bytes, const char *shape)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, strlen(shape) + 48);

	tg_number(gen, flop);
	tg_number(gen, bytes);
	tg_bytes(gen, shape, strlen(shape));
	tg_end(gen, chunk, TPROF_EVENT_DETAIL);
}

static void put_work(struct gen *gen, const struct gen_work *work)
{
	tg_number(gen, work->kind);
	tg_byte(gen, work->dtype);
	tg_byte(gen, work->flags);
	for (size_t i = 0; i < work->count; i++)
		tg_number(gen, work->dims[i]);
}

void gen_work(struct gen *gen, uint32_t thread, uint64_t ticks, const struct gen_work *work)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 160);

	put_work(gen, work);
	tg_end(gen, chunk, TPROF_EVENT_WORK);
}

void gen_fold(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op, const struct gen_work *work,
	      const struct tprof_fold *counts)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 320);
	size_t length, at;

	tg_time(gen, chunk, ticks);
	tg_number(gen, op);
	at = gen->length;
	tg_byte(gen, 0);
	if (work)
		put_work(gen, work);
	length = gen->length - at - 1;
	gen->record[at] = (uint8_t)length;
	tg_bytes(gen, "\0\0", 3); /* padding */
	tg_bytes(gen, counts, sizeof(*counts));
	tg_end(gen, chunk, TPROF_EVENT_FOLD);
}

void gen_fold_lasted(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op, const struct tprof_fold *counts,
		     uint32_t lasted, uint32_t of)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 320);
	uint64_t both = (uint64_t)of << 32 | lasted;

	tg_time(gen, chunk, ticks);
	tg_number(gen, op);
	tg_byte(gen, 0);
	tg_bytes(gen, &both, sizeof(both));
	tg_bytes(gen, counts, sizeof(*counts));
	tg_end(gen, chunk, TPROF_EVENT_FOLD);
}

void gen_counters(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t idle_ns, const uint64_t *increases,
		  size_t count)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 10 * count + 48);

	tg_number(gen, idle_ns);
	for (size_t i = 0; i < count; i++)
		tg_number(gen, increases[i]);
	tg_end(gen, chunk, TPROF_EVENT_COUNTERS);
}
