/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a search for what holds blocks: HOLDER, HELD, HOLDERS. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "trace/records.h"

/* Doubled when it is full. */
static void grow(void *list, size_t count, size_t size)
{
	size_t room = count;

	if ((count & (count - 1)) == 0)
		tpa_grow(list, &room, count + 1, size);
}

static bool fits(uint64_t n)
{
	return n <= UINT32_MAX;
}

const char *tpa_fact_holder(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_holder_link link = { .ticks = tpa_uvarint(&at) };
	uint64_t number = tpa_uvarint(&at), parent = tpa_uvarint(&at), node;
	uint8_t length;

	link.kind = *at++;
	link.count = tpa_uvarint(&at);
	link.items = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	node = tpa_uvarint(&at);
	link.size = tpa_uvarint(&at);
	link.blocks = tpa_uvarint(&at);
	link.bytes = tpa_uvarint(&at);
	length = *at++;
	if (!tpa_read_ok(body, at, end) || length > end - at || !number || parent >= number || !fits(number) ||
	    !fits(node) || !link.kind)
		return TPA_CUT_RECORD;
	link.number = (uint32_t)number;
	link.parent = (uint32_t)parent;
	link.node = (uint32_t)node;
	link.name = tpa_strndup((const char *)at, length);
	link.type = tpa_strndup((const char *)at + length, (size_t)(end - at) - length);
	grow(&trace->links, trace->link_count, sizeof(link));
	trace->links[trace->link_count++] = link;
	return NULL;
}

const char *tpa_fact_held(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_held held = { .ticks = tpa_uvarint(&at), .what = *at };
	uint64_t node, op, last, holder;

	at++;
	node = tpa_uvarint(&at);
	op = tpa_uvarint(&at);
	last = tpa_uvarint(&at);
	holder = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end) || !fits(node) || !fits(op) || !fits(last) || !fits(holder))
		return TPA_CUT_RECORD;
	held.node = (uint32_t)node;
	held.op = (uint32_t)op;
	held.end = (uint32_t)last;
	held.holder = (uint32_t)holder;
	held.blocks = tpa_uvarint(&at);
	held.bytes = tpa_uvarint(&at);
	held.all_blocks = tpa_uvarint(&at);
	held.all_bytes = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	grow(&trace->held, trace->held_count, sizeof(held));
	trace->held[trace->held_count++] = held;
	return NULL;
}

const char *tpa_fact_holders(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_holders_search search = { .ticks = tpa_uvarint(&at) };

	search.blocks = tpa_uvarint(&at);
	search.bytes = tpa_uvarint(&at);
	search.reached = tpa_uvarint(&at);
	search.pointers = tpa_uvarint(&at);
	search.interior = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	search.unreadable = tpa_uvarint(&at);
	search.ns = tpa_uvarint(&at);
	search.memory = tpa_uvarint(&at);
	search.left_out = tpa_uvarint(&at);
	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	if (search.ticks >= trace->holders.ticks)
		trace->holders = search;
	return NULL;
}

void tpa_facts_holders_free(struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->link_count; i++) {
		free(trace->links[i].name);
		free(trace->links[i].type);
	}
	free(trace->links);
	free(trace->held);
}
