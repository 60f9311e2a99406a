/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/allocator.h"

#include <stdlib.h>
#include <string.h>

#include <tprof/format.h>

#include "base/archive.h"
#include "base/varint.h"

#define FIELDS (1 + TPROF_ALLOCATOR_NUMBERS)
#define MOST (UINT64_C(1) << 52) /* so that sums of damaged numbers stay numbers */

bool tp_allocator_read(struct tp_allocator *allocator, const char *bytes, size_t length)
{
	uint8_t copy[10 * FIELDS + TP_PADDING] = { 0 };
	uint64_t fields[FIELDS] = { 0 };
	const uint8_t *at = copy;

	length = length < 10 * FIELDS ? length : 10 * FIELDS;
	if (length)
		memcpy(copy, bytes, length);
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t value = tp_uvarint(&at);

		if (!tp_read_ok(copy, at, copy + length))
			return false;
		fields[i] = value < MOST ? value : MOST;
	}
	if (fields[0] != TPROF_ALLOCATOR_JEMALLOC)
		return false;
	*allocator = (struct tp_allocator){ fields[1], fields[2], fields[3], fields[4], fields[5], fields[6] };
	return true;
}

static void raise(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

/* Makes room: of those that are kept every second one goes, and as many are passed by from here on. */
static void halve(struct tp_allocator_series *series)
{
	series->count /= 2;
	series->mask = series->mask * 2 + 1;
	for (size_t i = 0; i < series->count; i++)
		series->list[i] = series->list[2 * i];
}

bool tp_allocator_add(struct tp_allocator_series *series, uint64_t time_ns, const struct tp_allocator *numbers)
{
	uint64_t number = series->said++;

	series->last = *numbers;
	raise(&series->most.allocated, numbers->allocated);
	raise(&series->most.active, numbers->active);
	raise(&series->most.metadata, numbers->metadata);
	raise(&series->most.resident, numbers->resident);
	raise(&series->most.mapped, numbers->mapped);
	raise(&series->most.retained, numbers->retained);
	if (series->count == TP_ALLOCATOR_SAMPLES && !(number & series->mask))
		halve(series);
	if (number & series->mask)
		return true;
	if (!series->list)
		series->list = calloc(TP_ALLOCATOR_SAMPLES, sizeof(*series->list));
	if (!series->list)
		return false;
	series->list[series->count++] = (struct tp_allocator_sample){ time_ns, *numbers };
	return true;
}

void tp_allocator_free(struct tp_allocator_series *series)
{
	free(series->list);
}

void tp_allocator_archive(struct tp_archive *archive, struct tp_allocator_series *series)
{
	size_t room = TP_ALLOCATOR_SAMPLES;
	bool any = series->list != NULL;

	TP_ARCHIVE(archive, series->said);
	TP_ARCHIVE(archive, series->mask);
	TP_ARCHIVE(archive, series->most);
	TP_ARCHIVE(archive, series->last);
	TP_ARCHIVE(archive, any);
	if (any)
		tp_archive_array(archive, &series->list, &series->count, &room, sizeof(*series->list));
	tp_archive_check(archive, series->count <= TP_ALLOCATOR_SAMPLES, "too many samples of the allocator");
}
