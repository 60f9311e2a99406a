/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tables.h"

#include "core/assert.h"
#include "core/spill.h"
#include "core/chunk.h"
#include "core/clock.h"
#include "core/ring.h"
#include "core/state.h"
#include "core/thread.h"
#include "core/varint.h"

#define AHEAD 256u /* bytes: a few records ahead */
#define KEEPS 512u /* records after which a thread keeps a chunk */

/*
 * Chunks that no thread writes to or keeps. As many as there were ever writers at once, about the number of processors.
 * A chunk that finds no slot when it is returned is ended.
 */
static TPC_SHARED(struct tprof_chunk *) idle[32];

/*
 * Kept in the chunk, as its writers change: the number after its last NODES or JOIN record, and the Python node of that
 * record.
 */
#define EXPECTED(chunk) ((chunk)->reserved[0])
#define LAST_PYTHON(chunk) ((chunk)->reserved[1])

static bool is_aside(void)
{
	return tpc_unlikely(tpc_load(&tpc_spill_area) != NULL);
}

static bool has_room(struct tprof_chunk *chunk, size_t room)
{
	return tpc_chunk_bytes(chunk) + tpc_chunk_committed(chunk) + room <= tpc_chunk_limit(chunk) &&
	       !(is_aside() && tpc_spill_is_copied(chunk));
}

static struct tprof_chunk *borrow_any(size_t room)
{
	bool filled = false;

	for (size_t i = 0; i < TPC_LENGTH(idle); i++) {
		struct tprof_chunk *chunk;

		if (!tpc_load(&idle[i]))
			continue;
		/* Acquire pairs with give_back()'s release: the bytes of the last borrower are visible. */
		chunk = tpc_exchange(&idle[i], NULL);
		if (!chunk)
			continue;
		if (has_room(chunk, room))
			return chunk;
		tpc_chunk_end(chunk);
		filled = true;
	}
	return tpc_chunk_begin(TPROF_CHUNK_TABLES, 0, 0, filled);
}

/*
 * A thread that writes much keeps its chunk: passing it on takes two atomic operations, each of which waits for all
 * pending stores of the processor. While the thread records, nothing else uses the chunk (core/thread.h). If a longjmp
 * interrupts a record, the chunk is abandoned, because its coding state may be ahead of its content.
 * In a ring no thread keeps one: tables are never freed, and many threads would keep much that is empty.
 */
static struct tprof_chunk **kept_by(struct tpc_thread *thread)
{
	return thread && thread->busy == TPC_BUSY_RECORD && !tpc_ring_is_on() ? &thread->tables : NULL;
}

static struct tprof_chunk *borrow(size_t room)
{
	struct tprof_chunk **kept = kept_by(tpc_self), *chunk;

	if (tpc_state_is_child())
		return NULL;
	if (!kept || !*kept)
		return borrow_any(room);
	chunk = *kept;
	*kept = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* before a byte of it is written */
	__builtin_prefetch(tpc_chunk_bytes(chunk) + tpc_chunk_committed(chunk) + AHEAD, 1);
	if (tpc_likely(has_room(chunk, room)))
		return chunk;
	tpc_chunk_end(chunk);
	return tpc_chunk_begin(TPROF_CHUNK_TABLES, 0, 0, true);
}

static void give_back(struct tprof_chunk *chunk)
{
	struct tprof_chunk **kept = kept_by(tpc_self);

	if (is_aside())
		tpc_spill_wrote(chunk);
	if (kept && ++tpc_self->table_records > KEEPS) {
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		*kept = chunk;
		return;
	}
	for (size_t i = 0; i < TPC_LENGTH(idle); i++) {
		if (!tpc_load(&idle[i]) && tpc_swap_if(&idle[i], (struct tprof_chunk *)NULL, chunk))
			return;
	}
	tpc_chunk_end(chunk);
}

void tpc_tables_forget(void)
{
	for (size_t i = 0; i < TPC_LENGTH(idle); i++) {
		if (tpc_unshared(idle[i]))
			tpc_chunk_end(tpc_unshared(idle[i]));
		tpc_unshared(idle[i]) = NULL;
	}
}

/* Writes a LONG record with `length` bytes of content, followed by a text. */
static void put_long(enum tprof_table_type type, const uint8_t *content, size_t length, const char *text,
		     size_t text_length)
{
	struct tprof_chunk *chunk = borrow(length + text_length + 8);
	uint8_t *p;

	if (!chunk)
		return;
	p = tpc_chunk_bytes(chunk) + tpc_chunk_committed(chunk);
	*p++ = (uint8_t)(type << 2);
	p = tpc_put_uvarint(p, length + text_length);
	p = tpc_put_bytes(p, content, length);
	p = tpc_put_bytes(p, text, text_length);
	tpc_chunk_commit(chunk, p);
	give_back(chunk);
}

void tpc_table_module(const struct tpc_module_record *module)
{
	uint8_t content[128];
	uint8_t *p = content;
	size_t id_length = module->build_id_length > 64 ? 0 : module->build_id_length;

	p = tpc_put_uvarint(p, module->module);
	p = tpc_put_uvarint(p, module->bias);
	p = tpc_put_uvarint(p, module->start);
	p = tpc_put_uvarint(p, module->end);
	p = tpc_put_uvarint(p, tpc_clock_before());
	*p++ = (uint8_t)id_length;
	p = tpc_put_bytes(p, module->build_id, id_length);
	put_long(TPROF_TABLE_MODULE, content, (size_t)(p - content), module->path,
		 strnlen(module->path, TPC_TABLE_TEXT_MAX));
}

void tpc_table_op(const struct tpc_op_record *op)
{
	uint8_t content[272];
	uint8_t *p = tpc_put_uvarint(content, op->op);

	tpc_assert(op->category_length <= UINT8_MAX);
	*p++ = op->origin;
	*p++ = (uint8_t)op->category_length;
	p = tpc_put_bytes(p, op->category, op->category_length);
	put_long(TPROF_TABLE_OP, content, (size_t)(p - content), op->name, op->name_length);
}

/* Nobody is told as a rank that there is not. */
static uint8_t *put_ranks(uint8_t *p, const int *ranks, uint32_t count, uint32_t size)
{
	p = tpc_put_uvarint(p, count);
	for (uint32_t i = 0; i < count; i++)
		p = tpc_put_uvarint(p, ranks[i] < 0 ? size : (uint32_t)ranks[i]);
	return p;
}

void tpc_table_communicator(const struct tpc_communicator_record *communicator)
{
	uint8_t content[384 + 2 * TPC_NEIGHBOURS * 5];
	uint8_t *p = tpc_put_uvarint(content, communicator->number);
	size_t length = strnlen(communicator->name, UINT8_MAX);

	*p++ = communicator->kind;
	p = tpc_put_uvarint(p, communicator->size);
	p = tpc_put_uvarint(p, communicator->rank);
	p = tpc_put_uvarint(p, communicator->parent);
	p = tpc_put_uvarint(p, communicator->parent_sequence);
	p = tpc_put_svarint(p, communicator->leader);
	p = tpc_put_svarint(p, communicator->color);
	*p++ = (uint8_t)length;
	p = tpc_put_bytes(p, communicator->name, length);
	if (communicator->has_topology) {
		p = put_ranks(p, communicator->in, communicator->in_count, communicator->size);
		p = put_ranks(p, communicator->out, communicator->out_count, communicator->size);
		*p++ = TPROF_GROUP_NOBODY;
	}
	put_long(TPROF_TABLE_COMMUNICATOR, content, (size_t)(p - content), "", 0);
}

void tpc_table_hooks(enum tprof_hooks state, uint64_t pointers, uint64_t functions, const char *object)
{
	uint8_t content[32];
	uint8_t *p = content;

	*p++ = (uint8_t)state;
	p = tpc_put_uvarint(p, pointers);
	p = tpc_put_uvarint(p, functions);
	put_long(TPROF_TABLE_HOOKS, content, (size_t)(p - content), object, strnlen(object, TPC_TABLE_TEXT_MAX));
}

void tpc_table_counter(uint32_t number, uint32_t error, uint8_t flags, const char *name)
{
	uint8_t content[32];
	uint8_t *p = tpc_put_uvarint(content, number);

	p = tpc_put_uvarint(p, error);
	*p++ = flags;
	put_long(TPROF_TABLE_COUNTER, content, (size_t)(p - content), name, strlen(name));
}

void tpc_table_value(uint64_t value, const char *name, size_t length)
{
	uint8_t content[16];
	uint8_t *p = tpc_put_uvarint(content, value);

	put_long(TPROF_TABLE_VALUE, content, (size_t)(p - content), name, length);
}

void tpc_table_jitdump(const char *path, size_t length)
{
	put_long(TPROF_TABLE_JITDUMP, (const uint8_t *)"", 0, path, length);
}

void tpc_table_file(uint32_t file, const char *path, size_t length)
{
	uint8_t content[8];
	uint8_t *p = tpc_put_uvarint(content, file);

	put_long(TPROF_TABLE_FILE, content, (size_t)(p - content), path, length);
}

/* The name is short, and precedes the file's. */
void tpc_table_code(const struct tpc_code_record *code)
{
	uint8_t content[640];
	uint8_t *p = tpc_put_uvarint(content, code->code);

	tpc_assert(code->name_length <= sizeof(content) - 32);
	p = tpc_put_uvarint(p, code->first_line);
	p = tpc_put_uvarint(p, code->name_length);
	p = tpc_put_bytes(p, code->name, code->name_length);
	put_long(TPROF_TABLE_CODE, content, (size_t)(p - content), code->file, code->file_length);
}

void tpc_table_python(uint32_t frame, uint32_t code, uint32_t line, uint8_t flags)
{
	uint8_t content[32];
	uint8_t *p = tpc_put_uvarint(content, frame);

	p = tpc_put_uvarint(p, code);
	p = tpc_put_uvarint(p, line);
	*p++ = flags;
	put_long(TPROF_TABLE_PYTHON, content, (size_t)(p - content), "", 0);
}

/* With neighbours as close as usual, a join takes two or three bytes. */
void tpc_table_join(uint32_t node, uint32_t native, uint32_t python)
{
	struct tprof_chunk *chunk = borrow(32);
	uint8_t *tag, *p;

	if (!chunk)
		return;
	tag = tpc_chunk_bytes(chunk) + tpc_chunk_committed(chunk);
	*tag = TPROF_CLASS_JOIN;
	p = tag + 1;
	if (node != EXPECTED(chunk)) {
		*tag |= TPROF_JOIN_NODE;
		p = tpc_put_svarint(p, (int64_t)node - (int64_t)EXPECTED(chunk));
	}
	tpc_assert(native < node && python < node);
	if (native != node - 1) {
		*tag |= TPROF_JOIN_NATIVE;
		p = tpc_put_uvarint(p, node - native);
	}
	if (python != LAST_PYTHON(chunk)) {
		*tag |= TPROF_JOIN_PYTHON;
		p = tpc_put_svarint(p, (int64_t)python - (int64_t)LAST_PYTHON(chunk));
	}
	EXPECTED(chunk) = node + 1;
	LAST_PYTHON(chunk) = python;
	tpc_chunk_commit(chunk, p);
	give_back(chunk);
}

void tpc_table_op_code(const struct tpc_op_record *op, uint32_t frame)
{
	uint8_t content[288];
	uint8_t *p = tpc_put_uvarint(content, op->op);

	tpc_assert(op->category_length <= UINT8_MAX);
	*p++ = op->origin;
	*p++ = (uint8_t)op->category_length;
	p = tpc_put_bytes(p, op->category, op->category_length);
	p = tpc_put_uvarint(p, frame);
	put_long(TPROF_TABLE_OP_CODE, content, (size_t)(p - content), "", 0);
}

void tpc_table_shape(uint32_t op, const uint8_t *tensors, size_t length)
{
	uint8_t content[16];
	uint8_t *p = tpc_put_uvarint(content, op);

	put_long(TPROF_TABLE_SHAPE, content, (size_t)(p - content), (const char *)tensors, length);
}

void tpc_table_unload(uint32_t module)
{
	uint8_t content[32];
	uint8_t *p = tpc_put_uvarint(content, module);

	p = tpc_put_uvarint(p, tpc_clock_before());
	put_long(TPROF_TABLE_UNLOAD, content, (size_t)(p - content), "", 0);
}

void tpc_table_frame(uint32_t frame, uint32_t module, uint64_t offset, uint8_t flags)
{
	uint8_t content[32];
	uint8_t *p = tpc_put_uvarint(content, frame);

	p = tpc_put_uvarint(p, module);
	p = tpc_put_uvarint(p, offset);
	*p++ = flags;
	put_long(TPROF_TABLE_FRAME, content, (size_t)(p - content), "", 0);
}

void tpc_table_nodes(uint32_t first, uint32_t parent, const uint32_t *frames, size_t count)
{
	struct tprof_chunk *chunk = borrow(count * 5 + 32);
	uint8_t *p;

	if (!chunk)
		return;
	p = tpc_chunk_bytes(chunk) + tpc_chunk_committed(chunk);
	if (count < 64) {
		*p++ = (uint8_t)(count << 2 | TPROF_CLASS_NODES);
	} else {
		*p++ = TPROF_CLASS_NODES;
		p = tpc_put_uvarint(p, count);
	}
	p = tpc_put_svarint(p, (int64_t)first - (int64_t)EXPECTED(chunk));
	if (parent < TPROF_NODE_FIRST)
		p = tpc_put_uvarint(p, (uint64_t)parent << 1 | 1);
	else
		p = tpc_put_uvarint(p, (uint64_t)(first - parent) << 1);
	for (size_t i = 0; i < count; i++)
		p = tpc_put_uvarint(p, frames[i]);
	EXPECTED(chunk) = first + count;
	tpc_chunk_commit(chunk, p);
	give_back(chunk);
}
