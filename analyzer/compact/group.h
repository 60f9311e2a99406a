/* SPDX-License-Identifier: Apache-2.0 */
/* A group of chunks: what its frame holds when it is decompressed, and the records of its chunks. */
#ifndef TPROF_COMPACT_GROUP_H
#define TPROF_COMPACT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compact/addresses.h"
#include "compact/coder.h"

struct tpa_records { /* of a chunk */
	const uint8_t *bytes;
	size_t length;
	enum tpa_method method;
};

struct tpa_piece {
	const uint8_t *bytes;
	size_t length;
};

/* What a group becomes, in pieces: a head and the columns that are not empty. Each piece is worth a block of its own. */
struct tpa_group {
	struct tpa_coder coder;
	uint8_t head[5 * TPA_COLUMNS + 8];
	struct tpa_piece pieces[TPA_COLUMNS + 1];
	size_t piece_count, length; /* length: of all pieces */
};

/* Encodes chunks. A chunk whose records can't be coded becomes plain. Free the group with tpa_group_free(). */
void tpa_group_encode(struct tpa_group *group, struct tpa_records *chunks, size_t count);
void tpa_group_free(struct tpa_group *group);

/*
 * Gives each record with a length to `visit`, which may change its body. Returns how many of the bytes could be read as records; what
 * follows was not visited.
 */
size_t tpa_records_visit(uint8_t *records, size_t length, enum tpa_method method, tpa_record_visit *visit,
			 void *context);

/*
 * Decodes `count` chunks with records of lengths[i] bytes into `out`, one behind the other; it has room for all. False: `bytes` is not
 * what such chunks become.
 */
bool tpa_group_decode(const uint8_t *bytes, size_t length, const uint32_t *lengths, size_t count, uint8_t *out);

/* Moves the records of a chunk: the coder's `in` or `out` has them. A failure is noted in the coder. */
void tpa_code_events(struct tpa_coder *coder, struct tpa_addresses *addresses, bool decoding);
void tpa_code_tables(struct tpa_coder *coder, bool decoding);

/* More than a group's frame ever holds for so many bytes of records. */
static inline uint64_t tpa_group_limit(uint64_t records, uint64_t chunks)
{
	return 2 * records + 5 * (TPA_COLUMNS + 2) + chunks;
}

#endif
