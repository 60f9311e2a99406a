/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/row_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void tpa_row_index_init(struct tpa_row_index *index)
{
	memset(index, 0, sizeof(*index));
	tpa_keys_init(&index->keys);
}

void tpa_row_index_free(struct tpa_row_index *index)
{
	tpa_keys_free(&index->keys);
	tpa_pairs_free(&index->rows);
	tpa_pairs_free(&index->matches);
	free(index->stamps);
}

void *tpa_row_index_at(struct tpa_row_index *index, uint64_t key, uint64_t kind, void *array, size_t size)
{
	bool found;
	uint32_t *position = tpa_pairs_at(&index->rows, key, kind, &found);
	unsigned char *rows;

	tpa_grow(array, &index->room, index->count + 1, size);
	tpa_grow(&index->stamps, &index->stamp_room, index->count + 1, sizeof(*index->stamps));
	memcpy(&rows, array, sizeof(rows));
	if (!found) {
		*position = (uint32_t)index->count++;
		memset(rows + *position * size, 0, size);
		index->stamps[*position] = 0;
	}
	return rows + *position * size;
}

bool tpa_row_index_once(struct tpa_row_index *index, size_t position)
{
	bool first = index->stamps[position] != index->stamp;

	index->stamps[position] = index->stamp;
	return first;
}

uint64_t tpa_row_index_op(struct tpa_row_index *index, const char *op)
{
	return (uintptr_t)tpa_arena_intern(index->keys.arena, op ? op : "");
}

uint64_t tpa_row_index_line(struct tpa_row_index *index, const struct tpa_line *line, enum tpa_key kind)
{
	return line ? (uintptr_t)tpa_keys_get(&index->keys, line, kind) : 0;
}

bool tpa_row_index_matches(struct tpa_row_index *index, const struct tpa_stack *stack, const regex_t *filter)
{
	for (size_t i = 0; i < stack->count; i++) {
		bool found;
		uint32_t *known = tpa_pairs_at(&index->matches, (uintptr_t)stack->lines[i].location, 0, &found);

		if (!found)
			*known = tpa_line_matches(&stack->lines[i], filter);
		if (*known)
			return true;
	}
	return false;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

int tpa_row_names_compare(const struct tpa_line *a, const char *a_op, const struct tpa_line *b, const char *b_op)
{
	int order = 0;

	if (a->location && b->location) {
		order = compare_text(a->location->function, b->location->function);
		order = order ? order : compare_text(a->location->file, b->location->file);
		order = order ? order : a->location->line - b->location->line;
	}
	return order ? order : compare_text(a_op, b_op);
}
