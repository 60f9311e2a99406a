/* SPDX-License-Identifier: Apache-2.0 */
#include "export/nest.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct tpa_nest_thread {
	uint32_t *items; /* of open ops, outermost first */
	size_t count, room;
};

static struct tpa_nest_thread *thread_of(struct tpa_nest *nest, uint32_t thread)
{
	tpa_extend(&nest->threads, &nest->count, &nest->room, (size_t)thread + 1, sizeof(*nest->threads));
	return &nest->threads[thread];
}

void tpa_nest_begin(struct tpa_nest *nest, const struct tpa_walk_op *op, uint32_t item)
{
	struct tpa_nest_thread *open = thread_of(nest, op->thread);

	while (open->count > op->level) /* the thread ended within them */
		nest->put(nest->to, TPA_NEST_INTERRUPT, open->items[--open->count], op->begin_ns, op);
	*TPA_APPEND(open->items, open->count, open->room) = item;
	nest->put(nest->to, TPA_NEST_BEGIN, item, op->begin_ns, op);
}

void tpa_nest_end(struct tpa_nest *nest, const struct tpa_walk_op *op)
{
	struct tpa_nest_thread *open = thread_of(nest, op->thread);
	size_t level = op->level;

	if (level >= open->count)
		return;
	for (size_t i = open->count; i-- > level + 1;)
		nest->put(nest->to, TPA_NEST_INTERRUPT, open->items[i], op->end_ns, op);
	nest->put(nest->to, TPA_NEST_END, open->items[level], op->end_ns, op);
	memmove(open->items + level, open->items + level + 1, (open->count - level - 1) * sizeof(*open->items));
	open->count--;
	for (size_t i = level; i < open->count; i++)
		nest->put(nest->to, TPA_NEST_RESUME, open->items[i], op->end_ns, op);
}

void tpa_nest_clear(struct tpa_nest *nest)
{
	for (size_t i = 0; i < nest->count; i++)
		free(nest->threads[i].items);
	nest->count = 0;
}

void tpa_nest_free(struct tpa_nest *nest)
{
	tpa_nest_clear(nest);
	free(nest->threads);
}
