/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto_heap.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "export/sites.h"

#define TOGETHER 500 /* samples in a packet */

/* Of a stack, innermost function's own. */
struct amounts {
	uint64_t peak_bytes, peak_blocks, bytes, allocations, freed_bytes, frees;
};

/* Of one process after the other. */
struct heap {
	struct tpa_perfetto *perfetto;
	const struct tpa_process *process;
	struct amounts *amounts; /* by node of perfetto->stacks; zero but for those of the process */
	size_t amount_count, amount_room;
	uint32_t *nodes; /* that the process's sites have; one may stand there twice */
	size_t count, room;
	uint64_t index; /* of the packets of all heaps */
};

static bool add_site(void *to, const struct tpa_export_site *site)
{
	struct heap *heap = to;
	const struct tpa_sums *sums = &site->sums;
	struct amounts *amounts;
	uint32_t node;

	node = tpa_stack_tree_add(&heap->perfetto->stacks, &heap->perfetto->frames, site->which, site->stack,
				  site->stack->first);
	tpa_extend(&heap->amounts, &heap->amount_count, &heap->amount_room, heap->perfetto->stacks.count,
		   sizeof(*heap->amounts));
	*TPA_APPEND(heap->nodes, heap->count, heap->room) = node;
	amounts = &heap->amounts[node];
	amounts->peak_bytes += sums->peak_bytes;
	amounts->peak_blocks += sums->peak_blocks;
	amounts->bytes += sums->bytes;
	amounts->allocations += sums->allocations;
	amounts->freed_bytes += sums->bytes > sums->live_bytes ? sums->bytes - sums->live_bytes : 0;
	amounts->frees += sums->allocations > sums->live_blocks ? sums->allocations - sums->live_blocks : 0;
	return true;
}

/* False: nothing of the stack is in the profile. */
static bool sample_of(const struct amounts *amounts, bool peak, Perfetto__ProfilePacket__HeapSample *sample)
{
	*sample = (Perfetto__ProfilePacket__HeapSample)PERFETTO__PROFILE_PACKET__HEAP_SAMPLE__INIT;
	TPA_SET(*sample, self_allocated, peak ? amounts->peak_bytes : amounts->bytes);
	TPA_SET(*sample, alloc_count, peak ? amounts->peak_blocks : amounts->allocations);
	TPA_SET(*sample, self_freed, peak ? 0 : amounts->freed_bytes);
	TPA_SET(*sample, free_count, peak ? 0 : amounts->frees);
	return sample->alloc_count > 0;
}

struct dump {
	uint64_t ns;
	bool peak;
};

static void write_part(struct heap *heap, const struct dump *dump, Perfetto__ProfilePacket__HeapSample **samples,
		       size_t count, bool last)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ProfilePacket profile = PERFETTO__PROFILE_PACKET__INIT;
	Perfetto__ProfilePacket__ProcessHeapSamples of = PERFETTO__PROFILE_PACKET__PROCESS_HEAP_SAMPLES__INIT,
						    *list = &of;
	char peak[] = "alive at the peak", all[] = "libc.malloc";

	TPA_SET(of, pid, heap->process->trace->header->pid);
	TPA_SET(of, from_startup, 1);
	TPA_SET(of, timestamp, heap->perfetto->base_ns + dump->ns);
	of.heap_name = dump->peak ? peak : all;
	of.n_samples = count;
	of.samples = samples;
	profile.n_process_dumps = 1;
	profile.process_dumps = &list;
	TPA_SET(profile, continued, !last);
	TPA_SET(profile, index, heap->index++);
	TPA_SET(packet, timestamp, dump->ns);
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_PROFILE_PACKET;
	packet.profile_packet = &profile;
	tpa_perfetto_write(heap->perfetto, &packet);
}

static void write_dump(struct heap *heap, const struct dump *dump)
{
	Perfetto__ProfilePacket__HeapSample samples[TOGETHER], *list[TOGETHER];
	size_t count = 0;

	for (size_t i = 0; i < heap->count; i++) {
		uint32_t node = heap->nodes[i];

		if ((i && node == heap->nodes[i - 1]) || !sample_of(&heap->amounts[node], dump->peak, &samples[count]))
			continue;
		TPA_SET(samples[count], callstack_id, tpa_perfetto_node(heap->perfetto, node));
		list[count] = &samples[count];
		if (++count == TOGETHER) {
			write_part(heap, dump, list, count, false);
			count = 0;
		}
	}
	write_part(heap, dump, list, count, true);
}

void tpa_perfetto_heaps(struct tpa_perfetto *perfetto, struct tpa_export *export)
{
	const struct tpa_run *run = export->run;
	struct heap heap = { .perfetto = perfetto };

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *process = &run->processes[i];
		uint64_t end = process->start_ns + process->duration_ns, to = export->replay->to_ns;

		heap.process = process;
		heap.count = 0;
		tpa_export_process_sites(export, process, add_site, &heap);
		TPA_SORT_NUMBERS(heap.nodes, heap.count);
		write_dump(&heap, &(struct dump){ .ns = process->heap.peak_time_ns, .peak = true });
		write_dump(&heap, &(struct dump){ .ns = to && to < end ? to : end });
		for (size_t k = 0; k < heap.count; k++)
			heap.amounts[heap.nodes[k]] = (struct amounts){ 0 };
	}
	free(heap.amounts);
	free(heap.nodes);
}
