/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/sources.h"

/* The ranks from which an operation receives a part each, in the order of the parts. */
struct sources {
	const uint32_t *ranks; /* NULL: part i is from rank i */
	uint32_t count;
	const uint8_t *bits; /* NULL: no part is empty */
	uint32_t bit_count;
};

/* False: the numbers are those of a damaged trace, or it is not known. */
static bool take_bits(const struct tpa_rank_process *said, const struct tpa_comm_call *call, struct sources *sources)
{
	size_t at = call->parts - 1u;

	if (call->parts == TPA_PARTS_ALL)
		return true;
	if (call->parts == TPA_PARTS_UNKNOWN || at >= said->part_bytes || said->parts[at] >= said->part_bytes - at)
		return false;
	sources->bits = said->parts + at + 1;
	sources->bit_count = said->parts[at] * 8u;
	return true;
}

static bool sources_of(const struct tpa_ranks *ranks, const struct tpa_rank_op *op, struct sources *sources)
{
	const struct tpa_rank_process *said = ranks->list[op->rank].said;
	const struct tpa_comm_call *call = &said->calls[op->call];
	const struct tpa_communicator *communicator;

	*sources = (struct sources){ 0 };
	if (call->communicator >= said->communicator_count)
		return false;
	communicator = &said->communicators[call->communicator];
	if (op->flow == TPA_FLOW_PARTS) {
		sources->count = communicator->size;
	} else {
		sources->ranks = communicator->sources;
		sources->count = communicator->sources ? communicator->source_count : 0;
	}
	return take_bits(said, call, sources);
}

static bool is_full(const struct sources *sources, uint32_t part)
{
	return !sources->bits || (part < sources->bit_count && sources->bits[part / 8] >> part % 8 & 1);
}

/* The member of that rank in the communicator; TPA_RANK_NONE: it is missing. */
static uint32_t find_member(const struct tpa_ranks *ranks, const struct tpa_rank_match *group, uint32_t place)
{
	const uint32_t *members = &ranks->members[group->first];
	uint32_t low = 0, high = group->count;

	if (place < group->count && ranks->ops[members[place]].place == place)
		return members[place];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ranks->ops[members[middle]].place < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low < group->count && ranks->ops[members[low]].place == place ? members[low] : TPA_RANK_NONE;
}

uint32_t tpa_sources_last(const struct tpa_ranks *ranks, const struct tpa_rank_match *group,
			  const struct tpa_rank_op *op)
{
	struct sources sources;
	uint32_t last = TPA_RANK_NONE, most = ranks->communicators[group->communicator].size;

	if (!sources_of(ranks, op, &sources))
		return TPA_RANK_NONE;
	/* A communicator has so many members; a damaged trace may say any number. */
	most = sources.ranks || sources.count < most ? sources.count : most;
	for (uint32_t i = 0; i < most; i++) {
		uint32_t member;

		if (!is_full(&sources, i))
			continue;
		member = find_member(ranks, group, sources.ranks ? sources.ranks[i] : i);
		if (member != TPA_RANK_NONE &&
		    (last == TPA_RANK_NONE || ranks->ops[member].post > ranks->ops[last].post))
			last = member;
	}
	return last;
}
