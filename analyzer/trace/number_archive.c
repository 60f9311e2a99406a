/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/number_archive.h"

#include "trace/jit.h"

#define NAMELESS UINT32_MAX
#define IS_REGION                                                                                                      \
	0x80000000u /* set in the number of an op: the op of the regions in it; with IS_PART, of their threads' parts */
#define IS_PART 0x40000000u

void tpa_archive_numbers_begin(struct tpa_archive_numbers *numbers, struct tpa_archive *archive,
			       struct tpa_trace *trace, const uint32_t *same, uint32_t op_count)
{
	*numbers = (struct tpa_archive_numbers){ .trace = trace, .same = same, .op_count = op_count };
	archive->user = numbers;
}

void tpa_archive_node(struct tpa_archive *archive, uint32_t *node)
{
	const struct tpa_archive_numbers *numbers = archive->user;
	struct tpa_node_at at = { 0 };

	if (!archive->loading)
		at = tpa_jit_node_at(numbers->trace, *node);
	TPA_ARCHIVE(archive, at.node);
	TPA_ARCHIVE(archive, at.time);
	if (archive->loading)
		*node = tpa_jit_node(numbers->trace, at);
}

/* The number that is saved: of an op without a record, the number of the op in which it runs, with flags. */
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
