/* SPDX-License-Identifier: Apache-2.0 */
#include "compact/group.h"

#include <stdlib.h>
#include <string.h>

static void code(struct tpa_coder *coder, struct tpa_addresses *addresses, enum tpa_method method, size_t length,
		 bool decoding)
{
	if (method == TPA_METHOD_EVENTS)
		tpa_code_events(coder, addresses, decoding);
	else if (method == TPA_METHOD_TABLES)
		tpa_code_tables(coder, decoding);
	else
		tpa_code_bytes(coder, TPA_COLUMN_PLAIN, length, decoding);
}

/* ---- encoding ---- */

static void reset(struct tpa_coder *coder)
{
	for (size_t i = 0; i < TPA_COLUMNS; i++)
		coder->columns[i].length = 0;
	coder->failed = false;
}

/* Returns the index of the chunk that can't be coded; `count`: all were. */
static size_t encode(struct tpa_coder *coder, const struct tpa_records *chunks, size_t count)
{
	struct tpa_addresses *addresses = tpa_zalloc(1, sizeof(*addresses));
	size_t i;

	reset(coder);
	for (i = 0; i < count && !coder->failed; i++) {
		struct tpa_column *methods = &coder->columns[TPA_COLUMN_METHOD];

		*TPA_APPEND(methods->bytes, methods->length, methods->room) = (uint8_t)chunks[i].method;
		coder->in = chunks[i].bytes;
		coder->in_end = chunks[i].bytes + chunks[i].length;
		code(coder, addresses, chunks[i].method, chunks[i].length, false);
	}
	tpa_addresses_release(addresses);
	free(addresses);
	return coder->failed ? i - 1 : count;
}

static uint8_t *put(uint8_t *p, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		*p++ = (uint8_t)(value | 128);
	*p++ = (uint8_t)value;
	return p;
}

static void add_piece(struct tpa_group *group, const uint8_t *bytes, size_t length)
{
	group->pieces[group->piece_count++] = (struct tpa_piece){ bytes, length };
	group->length += length;
}

/* The head: how long each column is. */
static void list_pieces(struct tpa_group *group)
{
	uint8_t *p = group->head;

	for (size_t i = 0; i < TPA_COLUMNS; i++)
		p = put(p, group->coder.columns[i].length);
	group->piece_count = group->length = 0;
	add_piece(group, group->head, (size_t)(p - group->head));
	for (size_t i = 0; i < TPA_COLUMNS; i++)
		if (group->coder.columns[i].length)
			add_piece(group, group->coder.columns[i].bytes, group->coder.columns[i].length);
}

/* Checks that decoding gives the same; returns the index of a chunk that it does not give, `count`: all are the same. */
static size_t verify(const struct tpa_group *group, const struct tpa_records *chunks, size_t count)
{
	uint8_t *bytes = tpa_zalloc(1, group->length), *p = bytes, *out;
	uint32_t *lengths = tpa_zalloc(count, sizeof(*lengths));
	size_t total = 0, at = 0, wrong = 0;
	bool decoded;

	for (size_t i = 0; i < group->piece_count; i++, p += group->pieces[i - 1].length)
		memcpy(p, group->pieces[i].bytes, group->pieces[i].length);
	for (size_t i = 0; i < count; i++)
		total += lengths[i] = (uint32_t)chunks[i].length;
	out = tpa_zalloc(1, total);
	decoded = tpa_group_decode(bytes, group->length, lengths, count, out);
	while (wrong < count && memcmp(out + at, chunks[wrong].bytes, chunks[wrong].length) == 0)
		at += chunks[wrong++].length;
	if (!decoded && wrong == count)
		wrong = 0;
	free(bytes);
	free(lengths);
	free(out);
	return wrong;
}

/* Where coding makes records longer. Returns the index of a chunk that is now plain. */
static size_t make_plain(struct tpa_records *chunks, size_t count)
{
	size_t coded = count;

	for (size_t i = 0; i < count; i++) {
		coded = coded == count && chunks[i].method != TPA_METHOD_PLAIN ? i : coded;
		if (i != coded)
			chunks[i].method = TPA_METHOD_PLAIN;
	}
	return coded;
}

void tpa_group_encode(struct tpa_group *group, struct tpa_records *chunks, size_t count)
{
	uint64_t limit = 0;

	memset(group, 0, sizeof(*group));
	for (size_t i = 0; i < count; i++)
		limit += chunks[i].length;
	limit = tpa_group_limit(limit, count);
	for (;;) {
		size_t failed = encode(&group->coder, chunks, count);

		if (failed == count) {
			list_pieces(group);
			failed = group->length > limit ? make_plain(chunks, count) : verify(group, chunks, count);
		}
		if (failed == count || chunks[failed].method == TPA_METHOD_PLAIN)
			return;
		chunks[failed].method = TPA_METHOD_PLAIN;
	}
}

void tpa_group_free(struct tpa_group *group)
{
	for (size_t i = 0; i < TPA_COLUMNS; i++)
		free(group->coder.columns[i].bytes);
}

/* ---- visiting ---- */

/* What a visited record was, so that the end of the last good one is known. */
struct visited {
	tpa_record_visit *visit;
	void *context;
	const uint8_t *end;
};

static void visit_one(void *context, unsigned type, uint8_t *body, size_t length)
{
	struct visited *visited = context;

	visited->visit(visited->context, type, body, length);
	visited->end = body + length;
}

size_t tpa_records_visit(uint8_t *records, size_t length, enum tpa_method method, tpa_record_visit *visit,
			 void *context)
{
	struct tpa_addresses *addresses = tpa_zalloc(1, sizeof(*addresses));
	struct tpa_group *group = tpa_zalloc(1, sizeof(*group));
	struct visited visited = { visit, context, records };
	struct tpa_coder *coder = &group->coder;
	size_t good;

	coder->visit = visit_one;
	coder->context = &visited;
	coder->in = records;
	coder->in_end = records + length;
	code(coder, addresses, method, length, false);
	good = coder->failed ? (size_t)(visited.end - records) : length;
	tpa_addresses_release(addresses);
	free(addresses);
	tpa_group_free(group);
	free(group);
	return good;
}

/* ---- decoding ---- */

static bool find_columns(struct tpa_coder *coder, const uint8_t *bytes, size_t length)
{
	struct tpa_column head = { .bytes = (uint8_t *)(uintptr_t)bytes, .length = length };
	uint64_t lengths[TPA_COLUMNS];

	coder->columns[0] = head;
	for (size_t i = 0; i < TPA_COLUMNS; i++)
		lengths[i] = tpa_column_take(coder, 0);
	head = coder->columns[0];
	for (size_t i = 0; i < TPA_COLUMNS && !coder->failed; i++) {
		coder->failed = lengths[i] > head.length - head.at;
		if (coder->failed)
			break;
		coder->columns[i] = (struct tpa_column){ .bytes = head.bytes + head.at, .length = lengths[i] };
		head.at += lengths[i];
	}
	return !coder->failed && head.at == head.length;
}

bool tpa_group_decode(const uint8_t *bytes, size_t length, const uint32_t *lengths, size_t count, uint8_t *out)
{
	struct tpa_addresses *addresses = tpa_zalloc(1, sizeof(*addresses));
	struct tpa_coder *coder = tpa_zalloc(1, sizeof(*coder));
	bool good = find_columns(coder, bytes, length);

	coder->out = out;
	for (size_t i = 0; i < count && good; i++) {
		uint64_t method =
			coder->columns[TPA_COLUMN_METHOD].at < coder->columns[TPA_COLUMN_METHOD].length
				? coder->columns[TPA_COLUMN_METHOD].bytes[coder->columns[TPA_COLUMN_METHOD].at++]
				: UINT64_MAX;

		coder->out_end = coder->out + lengths[i];
		if (method <= TPA_METHOD_TABLES)
			code(coder, addresses, (enum tpa_method)method, lengths[i], true);
		good = method <= TPA_METHOD_TABLES && !coder->failed && coder->out == coder->out_end;
	}
	tpa_addresses_release(addresses);
	free(addresses);
	free(coder);
	return good;
}
