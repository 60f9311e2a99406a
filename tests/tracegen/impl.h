/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the second writer: how a record is put together, and where it goes. */
#ifndef TPROF_TESTS_TRACEGEN_IMPL_H
#define TPROF_TESTS_TRACEGEN_IMPL_H

#include "tracegen.h"

#define RECORD_MAX 4096 /* of one record, whatever is in it */

struct chunk {
	struct tprof_chunk header;
	uint8_t *bytes; /* records */
	size_t used;
	uint32_t owner; /* thread, 0: nobody */
	uint64_t time;
	uint64_t address;
	uint32_t stack, delta;
	uint64_t addresses[256];
	uint32_t stacks[256];
	uint32_t expected; /* tables */
	uint32_t python;   /* of the last JOIN */
};

struct gen {
	struct tprof_header header;
	uint8_t *text;
	size_t text_used;
	struct chunk *chunks;
	size_t chunk_count;
	size_t table; /* index + 1 of the current table chunk */
	uint8_t record[RECORD_MAX + 64];
	size_t length;
	uint8_t *file;
};

/* Ends the test program with a line. */
_Noreturn void tg_die(const char *what);
/* `memory`, unless it is NULL. */
void *tg_must(void *memory);

/* ---- a record, put together in gen->record ---- */

void tg_byte(struct gen *gen, unsigned byte);
void tg_number(struct gen *gen, uint64_t n);
/* Differences modulo 2^64: small ones of either sign are short. */
void tg_signed(struct gen *gen, int64_t n);
void tg_bytes(struct gen *gen, const void *bytes, size_t length);
/* Since the chunk's last event. */
void tg_time(struct gen *gen, struct chunk *chunk, uint64_t ticks);
/* Turns the record so far into the body of a LONG record. */
void tg_wrap(struct gen *gen, unsigned type);

/* ---- where it goes ---- */

/* The thread's chunk, with room for a record of about `length` bytes. */
struct chunk *tg_chunk(struct gen *gen, uint32_t thread, uint64_t ticks, size_t length);
/* The chunk that is for tables, with room for `length` bytes. */
struct chunk *tg_table(struct gen *gen, size_t length);
void tg_append(struct gen *gen, struct chunk *chunk);

/* A LONG record of a thread: its time; then comes its body, and its end. */
struct chunk *tg_begin(struct gen *gen, uint32_t thread, uint64_t ticks, size_t length);
void tg_end(struct gen *gen, struct chunk *chunk, unsigned type);
/* The end of a record of a table. */
void tg_end_table(struct gen *gen, unsigned type);

#endif
