/* SPDX-License-Identifier: Apache-2.0 */
#include "export/sqlite_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pairs.h"

struct tpa_sql_stacks {
	struct tpa_export *export;
	sqlite3_stmt *frame, *stack;
	struct tpa_pairs frames; /* by location, or address, and trace */
	struct tpa_pairs stacks; /* by caller and frame */
	struct tpa_pairs nodes;	 /* of walks, by node and trace: number + 2; 1: the filter does not let it through */
	uint32_t frame_count, stack_count;
	struct tpa_stack read;
	bool failed;
};

struct tpa_sql_stacks *tpa_sql_stacks_open(struct tpa_export *export, sqlite3 *db)
{
	struct tpa_sql_stacks *stacks = tpa_zalloc(1, sizeof(*stacks));

	stacks->export = export;
	if (sqlite3_prepare_v2(db, "INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?)", -1, &stacks->frame, NULL) ==
		    SQLITE_OK &&
	    sqlite3_prepare_v2(db, "INSERT INTO stacks VALUES (?, ?, ?, ?)", -1, &stacks->stack, NULL) == SQLITE_OK)
		return stacks;
	tpa_sql_stacks_close(stacks);
	return NULL;
}

void tpa_sql_stacks_close(struct tpa_sql_stacks *stacks)
{
	if (!stacks)
		return;
	sqlite3_finalize(stacks->frame);
	sqlite3_finalize(stacks->stack);
	tpa_pairs_free(&stacks->frames);
	tpa_pairs_free(&stacks->stacks);
	tpa_pairs_free(&stacks->nodes);
	tpa_stack_free(&stacks->read);
	free(stacks);
}

bool tpa_sql_stacks_good(const struct tpa_sql_stacks *stacks)
{
	return !stacks->failed;
}

void tpa_sql_bind_text(sqlite3_stmt *statement, int column, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, column, tpa_export_text(text, strlen(text)), -1, free);
	else
		sqlite3_bind_null(statement, column);
}

static void insert(struct tpa_sql_stacks *stacks, sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		stacks->failed = true;
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

/* A function and line are one frame; of code without names, an address. */
static uint32_t frame_of(struct tpa_sql_stacks *stacks, size_t which, const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	bool named = location && location->number && location->function, found;
	uint32_t *number = tpa_pairs_at(&stacks->frames, named ? location->number : line->address,
					(uint64_t)which << 1 | named, &found);
	char name[256];

	if (found)
		return *number;
	*number = ++stacks->frame_count;
	sqlite3_bind_int64(stacks->frame, 1, stacks->frame_count);
	tpa_sql_bind_text(stacks->frame, 2, tpa_line_name(line, name, sizeof(name)));
	tpa_sql_bind_text(stacks->frame, 3, location ? location->file : NULL);
	if (location && location->line > 0)
		sqlite3_bind_int(stacks->frame, 4, location->line);
	tpa_sql_bind_text(stacks->frame, 5, line->symbol && line->symbol->path[0] ? line->symbol->path : NULL);
	sqlite3_bind_text(stacks->frame, 6, location && location->python ? "python" : "native", -1, SQLITE_STATIC);
	insert(stacks, stacks->frame);
	return stacks->frame_count;
}

static uint32_t stack_of(struct tpa_sql_stacks *stacks, uint32_t parent, uint32_t frame, uint32_t depth)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&stacks->stacks, parent, frame, &found);

	if (found)
		return *number;
	*number = ++stacks->stack_count;
	sqlite3_bind_int64(stacks->stack, 1, stacks->stack_count);
	if (parent)
		sqlite3_bind_int64(stacks->stack, 2, parent);
	sqlite3_bind_int64(stacks->stack, 3, frame);
	sqlite3_bind_int64(stacks->stack, 4, depth);
	insert(stacks, stacks->stack);
	return stacks->stack_count;
}

uint32_t tpa_sql_stack(struct tpa_sql_stacks *stacks, size_t which, const struct tpa_stack *stack, size_t first,
		       size_t last)
{
	uint32_t number = 0, depth = 0;

	for (size_t i = last; i > first; i--)
		number = stack_of(stacks, number, frame_of(stacks, which, &stack->lines[i - 1]), ++depth);
	return number;
}

bool tpa_sql_node(struct tpa_sql_stacks *stacks, const struct tpa_walk *walk, uint32_t node, uint32_t *number)
{
	struct tpa_stack *stack = &stacks->read;
	const regex_t *filter = stacks->export->filter;
	uint32_t known = tpa_pairs_find(&stacks->nodes, node, walk->which);

	if (!known) {
		tpa_stack_read(stack, walk->trace, tpa_export_symbols(stacks->export, walk->which), node);
		known = 1;
		if (!filter || tpa_stack_matches(stack, filter))
			known = 2 + tpa_sql_stack(stacks, walk->which, stack, 0, stack->last);
		tpa_pairs_set(&stacks->nodes, node, walk->which, known);
	}
	*number = known - 2;
	return known > 1;
}
