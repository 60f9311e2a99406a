/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samples/allocator.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/memory.h"

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

void tp_allocator_add(struct tp_allocator_series *series, uint64_t time_ns, const struct tp_allocator *numbers)
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
		return;
	if (!series->list)
		series->list = tp_zalloc(TP_ALLOCATOR_SAMPLES, sizeof(*series->list));
	series->list[series->count++] = (struct tp_allocator_sample){ time_ns, *numbers };
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
