/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config.h"
#include "core/emit.h"

#include "core/state.h"
#include "core/sys.h"

uint32_t tpc_emit_shift TPC_LOOKED_AT;

/* Begins a LONG record: the tag, room for the length, and the time passed. */
static uint8_t *begin(struct tpc_thread *thread, enum tprof_event_type type, uint64_t ticks)
{
	uint8_t *p = thread->at;

	p[0] = (uint8_t)(type << 2);
	return tpc_put_uvarint(p + 2, tpc_emit_time(thread, ticks));
}

static void end(struct tpc_thread *thread, uint8_t *p)
{
	tpc_put_length(thread->at + 1, p);
	tpc_emit_end(thread, p);
}

static uint8_t *put_mean(uint8_t *p, const struct tpc_block *block)
{
	if (block->mean)
		*p++ = (uint8_t)(block->mean - 1);
	return p;
}

static void emit_long_alloc(struct tpc_thread *thread, uint64_t ticks, const struct tpc_block *block)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_ALLOC, ticks);
	p = tpc_put_uvarint(p, block->address);
	p = tpc_put_uvarint(p, block->size);
	p = tpc_put_uvarint(p, block->usable);
	*p++ = block->fn;
	*p++ = block->alignment;
	end(thread, put_mean(tpc_put_uvarint(p, block->node), block));
}

static void emit_long_free(struct tpc_thread *thread, uint64_t ticks, uint64_t address, uint8_t fn)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_FREE, ticks);
	p = tpc_put_uvarint(p, address);
	*p++ = fn;
	end(thread, p);
}

void tpc_emit_plain(struct tpc_thread *thread, uint64_t ticks, enum tprof_event_type type)
{
	if (tpc_emit_room(thread))
		end(thread, begin(thread, type, ticks));
}

void tpc_emit_level(struct tpc_thread *thread, uint64_t ticks, uint8_t mean_log2, bool ops)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_LEVEL, ticks);
	*p++ = mean_log2;
	*p++ = ops;
	end(thread, p);
}

void tpc_emit_comm(struct tpc_thread *thread, uint64_t ticks, const struct tpc_comm *comm)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_COMM, ticks);
	*p++ = comm->what;
	*p++ = comm->flags;
	p = tpc_put_uvarint(p, comm->group);
	p = tpc_put_uvarint(p, comm->sequence);
	p = tpc_put_svarint(p, comm->peer);
	p = tpc_put_svarint(p, comm->tag);
	p = tpc_put_uvarint(p, comm->sent);
	p = tpc_put_uvarint(p, comm->received);
	p = tpc_put_uvarint(p, comm->request);
	p = tpc_put_uvarint(p, comm->node);
	if (comm->what == TPROF_COMM_SENDRECV) {
		p = tpc_put_svarint(p, comm->source);
		p = tpc_put_svarint(p, comm->source_tag);
	} else if (comm->flags & TPROF_COMM_PARTS) {
		*p++ = comm->parts_bytes;
		p = tpc_put_bytes(p, comm->parts, comm->parts_bytes);
	}
	end(thread, p);
}

void tpc_emit_comm_done(struct tpc_thread *thread, uint64_t ticks, const struct tpc_comm_done *done)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_COMM_DONE, ticks);
	p = tpc_put_uvarint(p, done->request);
	*p++ = done->flags;
	if (done->flags & TPROF_COMM_DONE_STATUS) {
		p = tpc_put_svarint(p, done->source);
		p = tpc_put_svarint(p, done->tag);
		p = tpc_put_uvarint(p, done->bytes);
	}
	end(thread, p);
}

void tpc_emit_waited(struct tpc_thread *thread, uint64_t ticks, uint32_t op, uint64_t took, uint32_t node)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_WAITED, ticks);
	p = tpc_put_uvarint(p, op);
	p = tpc_put_uvarint(p, took >> tpc_emit_shift);
	end(thread, tpc_put_uvarint(p, node));
}

void tpc_emit_alloc(struct tpc_thread *thread, uint64_t ticks, const struct tpc_block *block)
{
	if (block->address & 7)
		emit_long_alloc(thread, ticks, block);
	else if (tpc_emit_room(thread))
		tpc_emit_short_alloc(thread, ticks >> tpc_emit_shift, *block);
}

static void emit_short_free(struct tpc_thread *thread, uint64_t now, uint64_t address, uint8_t fn)
{
	uint32_t tag = TPROF_CLASS_FREE;
	uint8_t *at = thread->at;
	uint8_t *p = tpc_emit_passed(thread, at + 1, now);

	p = tpc_emit_address(thread, p, &tag, address);
	if (fn != TPROF_FN_FREE) {
		tag |= TPROF_FREE_FN;
		*p++ = fn;
	}
	*at = (uint8_t)tag;
	tpc_emit_end(thread, p);
}

void tpc_emit_free(struct tpc_thread *thread, uint64_t ticks, uint64_t address, uint8_t fn)
{
	if (address & 7)
		emit_long_free(thread, ticks, address, fn);
	else if (tpc_emit_room(thread))
		emit_short_free(thread, ticks >> tpc_emit_shift, address, fn);
}

void tpc_emit_cancel(struct tpc_thread *thread, uint64_t ticks)
{
	tpc_emit_plain(thread, ticks, TPROF_EVENT_CANCEL);
}

void tpc_emit_map(struct tpc_thread *thread, uint64_t ticks, const struct tpc_map *map)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_MAP, ticks);
	p = tpc_put_uvarint(p, map->address / TPC_PAGE);
	p = tpc_put_uvarint(p, map->length);
	p = tpc_put_uvarint(p, map->protection);
	p = tpc_put_uvarint(p, map->flags);
	end(thread, tpc_put_uvarint(p, map->node));
}

void tpc_emit_unmap(struct tpc_thread *thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_UNMAP, ticks);
	p = tpc_put_uvarint(p, address / TPC_PAGE);
	p = tpc_put_uvarint(p, length);
	end(thread, tpc_put_uvarint(p, remap));
}

void tpc_emit_memory(struct tpc_thread *thread, uint64_t ticks, const struct tpc_memory *memory,
		     const struct tpc_resident *resident)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_MEMORY, ticks);
	p = tpc_put_uvarint(p, memory->rss / TPC_PAGE);
	p = tpc_put_uvarint(p, memory->vms / TPC_PAGE);
	p = tpc_put_uvarint(p, memory->shared / TPC_PAGE);
	if (resident) {
		p = tpc_put_uvarint(p, resident->own / TPC_PAGE);
		p = tpc_put_uvarint(p, resident->stacks / TPC_PAGE);
		p = tpc_put_uvarint(p, resident->mapped / TPC_PAGE);
	}
	end(thread, p);
}

void tpc_emit_region(struct tpc_thread *thread, uint64_t ticks, const struct tpc_region *region)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_REGION, ticks);
	*p++ = (uint8_t)region->kind;
	p = tpc_put_uvarint(p, region->low / TPC_PAGE);
	p = tpc_put_uvarint(p, (region->high - region->low) / TPC_PAGE);
	p = tpc_put_uvarint(p, region->file);
	for (size_t i = 0; i < TPROF_REGION_SIZES; i++)
		p = tpc_put_uvarint(p, region->kib[i]);
	end(thread, p);
}

void tpc_emit_allocator(struct tpc_thread *thread, uint64_t ticks, const uint64_t *numbers)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = tpc_put_uvarint(begin(thread, TPROF_EVENT_ALLOCATOR, ticks), TPROF_ALLOCATOR_JEMALLOC);
	for (size_t i = 0; i < TPROF_ALLOCATOR_NUMBERS; i++)
		p = tpc_put_uvarint(p, numbers[i]);
	end(thread, p);
}

void tpc_emit_sample(struct tpc_thread *thread, uint64_t ticks, uint32_t node, uint64_t periods)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_SAMPLE, ticks);
	p = tpc_put_uvarint(p, node);
	end(thread, tpc_put_uvarint(p, periods));
}

void tpc_emit_name(struct tpc_thread *thread, const char *name, size_t length)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_NAME, 0);
	end(thread, tpc_put_bytes(p, name, length));
}

void tpc_emit_detail(struct tpc_thread *thread, uint64_t ticks, const char *shape, uint64_t flop, uint64_t bytes)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_DETAIL, ticks);
	p = tpc_put_uvarint(p, flop);
	p = tpc_put_uvarint(p, bytes);
	end(thread, tpc_put_bytes(p, shape, strnlen(shape, TPC_TEXT_MAX)));
}

tpc_shared_u32 tpc_step_due;

static void count_step(void)
{
	static tpc_shared_u64 steps;

	if (tpc_config.leakcheck_step && tpc_add(&steps, 1) + 1 == tpc_config.leakcheck_step)
		tpc_store(&tpc_step_due, 1u);
}

void tpc_emit_step(struct tpc_thread *thread, uint64_t ticks, uint64_t items)
{
	count_step();
	if (tpc_emit_room(thread))
		end(thread, tpc_put_uvarint(begin(thread, TPROF_EVENT_STEP, ticks), items));
}

void tpc_emit_mark(struct tpc_thread *thread, uint64_t ticks, const char *text)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_MARK, ticks);
	end(thread, tpc_put_bytes(p, text, strnlen(text, TPC_TEXT_MAX)));
}

void tpc_emit_pool_alloc(struct tpc_thread *thread, uint64_t ticks, uint64_t pool, const struct tpc_block *block)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_POOL_ALLOC, ticks);
	p = tpc_put_uvarint(p, block->address);
	p = tpc_put_uvarint(p, block->size);
	p = tpc_put_uvarint(p, pool);
	end(thread, put_mean(tpc_put_uvarint(p, block->node), block));
}

void tpc_emit_pool_free(struct tpc_thread *thread, uint64_t ticks, uint64_t address, bool whole_pool)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_POOL_FREE, ticks);
	p = tpc_put_uvarint(p, address);
	*p++ = whole_pool;
	end(thread, p);
}

void tpc_emit_thread(struct tpc_thread *thread, uint64_t ticks)
{
	uint8_t *p = thread->at;

	if (ticks >> tpc_emit_shift < thread->time)
		ticks = thread->time << tpc_emit_shift;
	p[0] = TPROF_EVENT_THREAD << 2;
	p = tpc_put_uvarint(p + 2, ticks);
	p = tpc_put_uvarint(p, thread->number);
	p = tpc_put_uvarint(p, tpc_load(&thread->tid));
	thread->time = ticks >> tpc_emit_shift;
	end(thread, p);
}

void tpc_emit_op_end_outer(struct tpc_thread *thread, uint64_t ticks, uint32_t within)
{
	uint8_t *end = tpc_put_op_end(thread, ticks, false);

	if (end && within) {
		tpc_set_bits(&tpc_header->features_required, TPROF_FEATURE_OUTER_ENDS);
		*thread->at |= TPROF_OP_OUTER;
		end = tpc_put_uvarint(end, within);
	}
	if (end)
		tpc_emit_end(thread, end);
}
