/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/number_archive.h"

#include <stdlib.h>

#define NAMELESS UINT32_MAX

bool tp_archive_numbers_begin(struct tp_archive_numbers *numbers, struct tp_archive *archive,
			      const struct tp_trace *trace, const uint32_t *same, uint32_t op_count)
{
	size_t count = trace->node_count;

	*numbers = (struct tp_archive_numbers){
		.trace = trace, .same = same, .op_count = op_count, .as_read = trace->jit != NULL
	};
	archive->user = numbers;
	TP_ARCHIVE(archive, count);
	if (archive->loading)
		return tp_archive_check(archive, !numbers->as_read || count == trace->node_count,
					"the trace has grown, and its stacks depend on time");
	if (numbers->as_read)
		return true;
	numbers->file_nodes = tp_trace_file_nodes(trace);
	if (!numbers->file_nodes)
		tp_archive_no_memory(archive);
	return numbers->file_nodes != NULL;
}

void tp_archive_numbers_end(struct tp_archive_numbers *numbers)
{
	free(numbers->file_nodes);
}

void tp_archive_node(struct tp_archive *archive, uint32_t *node)
{
	const struct tp_archive_numbers *numbers = archive->user;
	uint32_t number = archive->loading ? 0 : numbers->as_read ? *node : numbers->file_nodes[*node];

	TP_ARCHIVE(archive, number);
	if (archive->loading)
		*node = tp_trace_node(numbers->trace, number);
}

void tp_archive_op(struct tp_archive *archive, uint32_t *op)
{
	const struct tp_archive_numbers *numbers = archive->user;
	uint32_t nameless = numbers->op_count - 1, number = *op == nameless ? NAMELESS : *op, same;

	TP_ARCHIVE(archive, number);
	if (!archive->loading)
		return;
	same = number < numbers->trace->op_count ? numbers->same[number] : 0;
	*op = !number ? 0 : same ? same : nameless;
}
