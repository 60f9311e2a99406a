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

/* Makes room: drops every second sample, and keeps only half as many from now on. */
static void halve(struct tpa_allocator_series *series)
{
	series->count /= 2;
	series->mask = series->mask * 2 + 1;
	for (size_t i = 0; i < series->count; i++)
		series->list[i] = series->list[2 * i];
}

void tpa_allocator_add(struct tpa_allocator_series *series, uint64_t time_ns, const struct tpa_allocator *numbers)
{
	uint64_t number = series->said++;

	series->last = *numbers;
	raise(&series->most.allocated, numbers->allocated);
	raise(&series->most.active, numbers->active);
	raise(&series->most.metadata, numbers->metadata);
	raise(&series->most.resident, numbers->resident);
	raise(&series->most.mapped, numbers->mapped);
	raise(&series->most.retained, numbers->retained);
	if (series->count == TPA_ALLOCATOR_SAMPLES && !(number & series->mask))
		halve(series);
	if (number & series->mask)
		return;
	if (!series->list)
		series->list = tpa_zalloc(TPA_ALLOCATOR_SAMPLES, sizeof(*series->list));
	series->list[series->count++] = (struct tpa_allocator_sample){ time_ns, *numbers };
}

void tpa_allocator_free(struct tpa_allocator_series *series)
{
	free(series->list);
}

void tpa_allocator_archive(struct tpa_archive *archive, struct tpa_allocator_series *series)
{
	size_t room = TPA_ALLOCATOR_SAMPLES;
	bool any = series->list != NULL;

	TPA_ARCHIVE(archive, series->said);
	TPA_ARCHIVE(archive, series->mask);
	TPA_ARCHIVE(archive, series->most);
	TPA_ARCHIVE(archive, series->last);
	TPA_ARCHIVE(archive, any);
	if (any)
		tpa_archive_array(archive, &series->list, &series->count, &room, sizeof(*series->list));
	tpa_archive_check(archive, series->count <= TPA_ALLOCATOR_SAMPLES, "too many samples of the allocator");
}
