/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/payload.h"

#include <string.h>

#include "base/varint.h"

#define MOST (UINT64_C(1) << 52) /* bytes; larger ones are damage, and sums of smaller ones do not overflow */

/* Reads up to `max` numbers; the others become 0. Returns how many there are. */
static size_t read_numbers(uint64_t *numbers, size_t max, const uint8_t *at, size_t length)
{
	const uint8_t *end = at + length;
	size_t count = 0;

	while (count < max && tpa_uvarint_within(&at, end, &numbers[count]))
		count++;
	for (size_t i = count; i < max; i++)
		numbers[i] = 0;
	return count;
}

static uint64_t bounded(uint64_t value, unsigned shift)
{
	return value < MOST >> shift ? value << shift : MOST;
}

static void take_types(struct tpa_work *work, uint64_t types)
{
	work->second = TPROF_WORK_TYPE_SECOND(types);
	work->result = TPROF_WORK_TYPE_RESULT(types);
}

bool tpa_work_read(struct tpa_work *work, const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = bytes + length;
	uint64_t kind, number;

	memset(work, 0, sizeof(*work));
	if (!tpa_uvarint_within(&at, end, &kind) || end - at < 2)
		return false;
	work->kind = kind < UINT32_MAX ? (uint32_t)kind : UINT32_MAX;
	work->dtype = *at++;
	work->flags = *at++;
	while (at < end && work->dims < TPROF_WORK_DIMS + 1) {
		if (!tpa_uvarint_within(&at, end, &number))
			return false;
		if (at == end && work->flags & TPROF_WORK_TYPES)
			take_types(work, number);
		else if (work->dims < TPROF_WORK_DIMS)
			work->dim[work->dims++] = number;
		else
			break;
	}
	return true;
}

/* Reads the word before the counts. It is written before its last call is counted, so it may be one call ahead. */
static void read_lasted(struct tpa_folded *folded, const uint8_t *counts, size_t before)
{
	uint64_t lasted = 0;

	if (folded->counts.flags & TPROF_FOLD_LASTED && before >= sizeof(lasted))
		memcpy(&lasted, counts - sizeof(lasted), sizeof(lasted));
	folded->lasted = (uint32_t)lasted;
	folded->lasted_calls = (uint32_t)(lasted >> 32);
	if (folded->lasted_calls > folded->counts.calls)
		folded->lasted_calls = folded->counts.calls;
	if (folded->lasted_calls < folded->timed || !folded->lasted_calls)
		folded->lasted = folded->lasted_calls = 0;
}

bool tpa_fold_read(struct tpa_folded *folded, const uint8_t *bytes, size_t length)
{
	uint32_t timed = 0;

	memset(&folded->work, 0, sizeof(folded->work));
	if (length < 1 + sizeof(folded->counts) || bytes[0] > length - 1 - sizeof(folded->counts))
		return false;
	if (bytes[0] && !tpa_work_read(&folded->work, bytes + 1, bytes[0]))
		return false;
	memcpy(&folded->counts, bytes + length - sizeof(folded->counts), sizeof(folded->counts));
	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		timed += folded->counts.histogram[i];
	folded->timed = timed;
	/* The writer may have been killed between writing the two. */
	if (!(folded->counts.flags & TPROF_FOLD_SHARE) || folded->counts.calls < timed)
		folded->counts.calls = timed;
	read_lasted(folded, bytes + length - sizeof(folded->counts), length - 1 - bytes[0] - sizeof(folded->counts));
	folded->sums = folded->work.dims == 1 && folded->counts.flags & TPROF_FOLD_MIXED;
	return true;
}

void tpa_counters_read(struct tpa_counters *counters, uint64_t idle_ns, const uint8_t *bytes, size_t length)
{
	counters->idle_ns = idle_ns;
	read_numbers(counters->value, TPROF_COUNTERS_MAX, bytes, length);
}

void tpa_memory_parts_read(struct tpa_memory_parts *parts, const uint8_t *bytes, size_t length)
{
	uint64_t pages[4];
	size_t count = read_numbers(pages, 4, bytes, length);

	*parts = (struct tpa_memory_parts){ bounded(pages[0], 12),
					    bounded(pages[1], 12),
					    bounded(pages[2], 12),
					    bounded(pages[3], 12),
					    count > 0,
					    count == 4 };
}

bool tpa_usage_read(struct tpa_usage *usage, const uint8_t *bytes, size_t length)
{
	uint64_t numbers[6];

	if (read_numbers(numbers, 6, bytes, length) < 6)
		return false;
	*usage = (struct tpa_usage){ numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5] };
	return true;
}

bool tpa_allocator_read(struct tpa_allocator *allocator, const uint8_t *bytes, size_t length)
{
	uint64_t numbers[1 + TPROF_ALLOCATOR_NUMBERS];

	if (read_numbers(numbers, 1 + TPROF_ALLOCATOR_NUMBERS, bytes, length) < 1 + TPROF_ALLOCATOR_NUMBERS ||
	    numbers[0] != TPROF_ALLOCATOR_JEMALLOC)
		return false;
	*allocator = (struct tpa_allocator){ bounded(numbers[1], 0), bounded(numbers[2], 0), bounded(numbers[3], 0),
					     bounded(numbers[4], 0), bounded(numbers[5], 0), bounded(numbers[6], 0) };
	return true;
}

bool tpa_region_read(struct tpa_region *region, const uint8_t *bytes, size_t length)
{
	enum { FIELDS = 3 + TPROF_REGION_SIZES };
	uint64_t fields[FIELDS];
	uint32_t number;

	if (!length || read_numbers(fields, FIELDS, bytes + 1, length - 1) < FIELDS)
		return false;
	number = fields[2] < UINT32_MAX ? (uint32_t)fields[2] : UINT32_MAX;
	*region = (struct tpa_region){
		.kind = bytes[0],
		.low = bounded(fields[0], 12),
		.high = bounded(fields[0], 12) + bounded(fields[1], 12),
		.rss = bounded(fields[3 + TPROF_REGION_RSS], 10),
		.pss = bounded(fields[3 + TPROF_REGION_PSS], 10),
		.private = bounded(fields[3 + TPROF_REGION_PRIVATE], 10),
		.written = bounded(fields[3 + TPROF_REGION_ANONYMOUS_PART], 10),
		.swap = bounded(fields[3 + TPROF_REGION_SWAP], 10),
	};
	if (region->kind == TPROF_REGION_END)
		region->regions = number;
	else
		region->file = number;
	if (region->written > region->rss)
		region->written = region->rss;
	return region->kind < TPROF_REGION_KINDS;
}
