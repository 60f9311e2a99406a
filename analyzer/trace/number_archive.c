/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/number_archive.h"

#include <stdlib.h>

#define NAMELESS UINT32_MAX
#define IS_REGION                                                                                                      \
	0x80000000u /* set in the number of the op in which the regions run; as well, of their threads' parts: */
#define IS_PART 0x40000000u

bool tpa_archive_numbers_begin(struct tpa_archive_numbers *numbers, struct tpa_archive *archive,
			       const struct tpa_trace *trace, const uint32_t *same, uint32_t op_count)
{
	size_t count = trace->node_count;

	*numbers = (struct tpa_archive_numbers){
		.trace = trace, .same = same, .op_count = op_count, .as_read = trace->jit != NULL
	};
	archive->user = numbers;
	TPA_ARCHIVE(archive, count);
	if (archive->loading)
		return tpa_archive_check(archive, !numbers->as_read || count == trace->node_count,
					 "the trace has grown, and its stacks depend on time");
	if (!numbers->as_read)
		numbers->file_nodes = tpa_trace_file_nodes(trace);
	return true;
}

void tpa_archive_numbers_end(struct tpa_archive_numbers *numbers)
{
	free(numbers->file_nodes);
}

void tpa_archive_node(struct tpa_archive *archive, uint32_t *node)
{
	const struct tpa_archive_numbers *numbers = archive->user;
	uint32_t number = archive->loading ? 0 : numbers->as_read ? *node : numbers->file_nodes[*node];

	TPA_ARCHIVE(archive, number);
	if (archive->loading)
		*node = tpa_trace_node(numbers->trace, number);
}

/* An op as the file has it, or by the one that the file has. */
static uint32_t recorded(const struct tpa_archive_numbers *numbers, uint32_t number)
{
	const struct tpa_op *op;

	if (number == numbers->op_count - 1)
		return NAMELESS;
	op = number ? &numbers->trace->ops[number] : NULL;
	if (!op || !op->runs_in)
		return number;
	return op->runs_in | IS_REGION | (op->parallel == TPA_PARALLEL_PART ? IS_PART : 0);
}

static uint32_t of_recorded(const struct tpa_trace *trace, uint32_t number)
{
	uint32_t around = number & ~(IS_REGION | IS_PART);

	if (!(number & IS_REGION) || number == NAMELESS || around >= trace->op_count)
		return number;
	return trace->ops[around].region + (number & IS_PART ? 1 : 0);
}

void tpa_archive_op(struct tpa_archive *archive, uint32_t *op)
{
	const struct tpa_archive_numbers *numbers = archive->user;
	uint32_t nameless = numbers->op_count - 1, number = archive->loading ? 0 : recorded(numbers, *op), same;

	TPA_ARCHIVE(archive, number);
	if (!archive->loading)
		return;
	number = of_recorded(numbers->trace, number);
	same = number < numbers->trace->op_count ? numbers->same[number] : 0;
	*op = !number ? 0 : same ? same : nameless;
}
