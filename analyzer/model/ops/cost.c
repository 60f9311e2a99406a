/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/cost.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/stats/stats.h"
#include "trace/chunks.h"

uint64_t tpa_cost_recording(const struct tpa_trace *trace)
{
	return tpa_round(tpa_chunks_recording(tpa_trace_chunks(trace))) + trace->header->other_ticks;
}

static void set_chunks(struct tpa_cost *cost, const struct tpa_chunks *chunks)
{
	size_t room = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		const struct tpa_chunk *chunk = &chunks->list[i];
		size_t place = (size_t)((chunk->offset - cost->first) / cost->size);

		if (chunk->gone)
			continue;
		if (place >= cost->count) {
			tpa_grow(&cost->chunks, &room, place + 1, sizeof(*cost->chunks));
			memset(cost->chunks + cost->count, 0, (place + 1 - cost->count) * sizeof(*cost->chunks));
			cost->count = place + 1;
		}
		cost->chunks[place] = (struct tpa_event_cost){ chunk->event_cost, chunk->free_cost };
	}
}

void tpa_cost_init(struct tpa_cost *cost, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	*cost = (struct tpa_cost){ .first = header->header_size, .size = header->chunk_size };
	if (trace->op_count < 2)
		return;
	cost->op_inside = header->op_inside_ticks;
	cost->op_outside = header->op_outside_ticks;
	cost->fold_inside = header->fold_inside_ticks;
	cost->fold_outside = header->fold_outside_ticks;
	cost->fold_untimed = header->fold_untimed_ticks;
	cost->work = header->work_ticks;
	set_chunks(cost, tpa_trace_chunks(trace));
}

void tpa_cost_free(struct tpa_cost *cost)
{
	free(cost->chunks);
}
