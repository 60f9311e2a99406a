/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include "core/chunk.h"
#include "core/clock.h"
#include "core/output.h"
#include "core/state.h"

#include <stdlib.h>

static struct tprof_header header;
static struct tprof_chunk *chunks[HARNESS_CHUNKS];
static size_t handed_out;

void harness_start(void)
{
	tpc_header = &header;
	tpc_store_release(&tpc_state.mode, (uint32_t)TPC_MODE_ON);
}

size_t harness_chunk_count(void)
{
	return tpc_load_acquire(&handed_out);
}

struct tprof_chunk *harness_chunk(size_t i)
{
	struct tprof_chunk *chunk = tpc_load_acquire(&chunks[i]);

	/* Acquire pairs with tpc_chunk_begin(): the header is filled in. */
	return chunk && tpc_load_acquire(&chunk->magic) == TPROF_CHUNK_MAGIC ? chunk : NULL;
}

/* ---- in place of core/output.c and core/chunk.c: a chunk outlives its writer ---- */

int tpc_output_reach(void)
{
	return -1;
}

struct tprof_chunk *tpc_chunk_begin(enum tprof_chunk_kind kind, uint32_t thread, uint32_t tid, bool whole)
{
	size_t i = tpc_add(&handed_out, (size_t)1);
	struct tprof_chunk *chunk;

	(void)whole;
	HARNESS_CHECK(i < HARNESS_CHUNKS);
	chunk = aligned_alloc(TPC_PAGE, TPROF_CHUNK_SIZE);
	HARNESS_CHECK(chunk);
	memset(chunk, 0, TPROF_CHUNK_SIZE);
	chunk->kind = kind;
	chunk->thread = thread;
	chunk->tid = tid;
	chunk->begin = tpc_clock_moment();
	tpc_store_release(&chunks[i], chunk);
	tpc_store_release(&chunk->magic, TPROF_CHUNK_MAGIC);
	return chunk;
}

void tpc_chunk_end(struct tprof_chunk *chunk)
{
	HARNESS_CHECK(chunk->magic == TPROF_CHUNK_MAGIC);
}

const char *tpc_output_path(void)
{
	return "";
}

/* ---- reading ---- */

struct cursor {
	const uint8_t *at, *end;
};

static uint64_t read_number(struct cursor *in)
{
	uint64_t n = 0;

	for (unsigned int shift = 0;; shift += 7) {
		HARNESS_CHECK(in->at < in->end && shift < 70);
		n |= (uint64_t)(*in->at & 0x7f) << shift;
		if (!(*in->at++ & 0x80))
			return n;
	}
}

static int64_t read_signed(struct cursor *in)
{
	uint64_t n = read_number(in);

	return (int64_t)(n >> 1 ^ -(n & 1));
}

static void read_long(struct cursor *in, uint8_t tag, uint64_t *frame_offsets, size_t max)
{
	struct cursor content;
	uint64_t length = read_number(in), frame;

	HARNESS_CHECK(length <= (uint64_t)(in->end - in->at));
	content = (struct cursor){ in->at, in->at + length };
	in->at += length;
	if (tag >> 2 != TPROF_TABLE_FRAME)
		return;
	frame = read_number(&content);
	read_number(&content); /* the module */
	HARNESS_CHECK(frame > 0 && frame < max);
	frame_offsets[frame] = read_number(&content);
}

static void read_nodes(struct cursor *in, uint8_t tag, uint64_t *expected, struct harness_node *nodes, size_t max)
{
	uint64_t count = tag >> 2 ? tag >> 2 : read_number(in);
	uint64_t first = *expected + (uint64_t)read_signed(in);
	uint64_t parent = read_number(in);

	HARNESS_CHECK(first >= TPROF_NODE_FIRST && first + count < max);
	parent = parent & 1 ? parent >> 1 : first - (parent >> 1);
	for (uint64_t i = 0; i < count; i++) {
		HARNESS_CHECK(!nodes[first + i].frame || nodes[first + i].parent == (uint32_t)parent);
		nodes[first + i] = (struct harness_node){ (uint32_t)parent, (uint32_t)read_number(in) };
		parent = first + i;
	}
	*expected = first + count;
}

void harness_read_tables(const struct tprof_chunk *chunk, struct harness_node *nodes, uint64_t *frame_offsets,
			 size_t max)
{
	const uint8_t *bytes = (const uint8_t *)(chunk + 1);
	/* Acquire pairs with tpc_chunk_commit(). */
	struct cursor in = { bytes, bytes + tpc_load_acquire(&chunk->committed) };
	uint64_t expected = 0;

	HARNESS_CHECK(in.end <= (const uint8_t *)chunk + TPROF_CHUNK_SIZE);
	while (in.at < in.end) {
		uint8_t tag = *in.at++;

		if ((tag & 3) == TPROF_CLASS_NODES) {
			read_nodes(&in, tag, &expected, nodes, max);
		} else {
			HARNESS_CHECK((tag & 3) == TPROF_CLASS_LONG);
			read_long(&in, tag, frame_offsets, max);
		}
	}
}
