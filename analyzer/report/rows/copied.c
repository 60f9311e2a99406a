/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/copied.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/known_caches.h"

struct one {
	uint32_t parent;
	uint64_t bytes, python;
};

/* How much of it Python keeps its objects in: the arenas are mapped by the interpreter, in an ancestor. */
static uint64_t python_of(const struct tpa_run *run, struct tpa_symbols *const *symbols,
			  const struct tpa_copies *copies)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < copies->count; i++) {
		const struct tpa_copied *copied = &copies->list[i];
		const struct tpa_process *ancestor = &run->processes[copied->process];

		if (ancestor->trace->header->python &&
		    tpa_mapping_holder(ancestor, symbols[copied->process], copied->node, false) ==
			    TPA_HOLDER_PYTHON_ARENAS)
			sum += copied->bytes;
	}
	return sum;
}

static int by_parent(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return TPA_UP(x->parent, y->parent) ?: TPA_UP(x->bytes, y->bytes);
}

/* list[0..count) are sorted by bytes. */
static struct tpa_copied_row row_of(struct one *list, size_t count)
{
	struct tpa_copied_row row = { .parent = list->parent,
				      .processes = count,
				      .bytes = list[count / 2].bytes,
				      .low = list[0].bytes,
				      .high = list[count - 1].bytes };

	TPA_SORT(list, count, python);
	row.python = list[count / 2].python < row.bytes ? list[count / 2].python : row.bytes;
	return row;
}

struct tpa_copied_row *tpa_copied_rows(const struct tpa_run *run, struct tpa_symbols *const *symbols, size_t *count)
{
	struct one *list = tpa_zalloc(run->process_count, sizeof(*list));
	struct tpa_copied_row *rows = tpa_zalloc(run->process_count, sizeof(*rows));
	size_t found = 0, next;

	*count = 0;
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *process = &run->processes[i];
		uint64_t bytes = process->makeup.end.sample.copied;

		if (bytes >= TPA_COPIED_LEAST)
			list[found++] = (struct one){ process->trace->header->ppid, bytes,
						      python_of(run, symbols, &process->copies) };
	}
	if (found)
		qsort(list, found, sizeof(*list), by_parent);
	for (size_t i = 0; i < found; i = next) {
		for (next = i + 1; next < found && list[next].parent == list[i].parent;)
			next++;
		rows[(*count)++] = row_of(list + i, next - i);
	}
	free(list);
	return rows;
}
