/* SPDX-License-Identifier: Apache-2.0 */
/* The tables frames and stacks of a database: each frame and stack is there once. */
#ifndef TPROF_EXPORT_SQLITE_STACKS_H
#define TPROF_EXPORT_SQLITE_STACKS_H

#include <sqlite3.h>

#include "export/walk.h"
#include "report/rows/stack.h"

struct tpa_sql_stacks;

/* The tables are there. NULL: the database has an error. */
struct tpa_sql_stacks *tpa_sql_stacks_open(struct tpa_export *export, sqlite3 *db);
void tpa_sql_stacks_close(struct tpa_sql_stacks *stacks); /* NULL: does nothing */

/* False: a row could not be written; the database has the error. */
bool tpa_sql_stacks_good(const struct tpa_sql_stacks *stacks);

/* The number of lines [first, last) of a stack of traces[which]; 0: there are none. Inserts what is new of it. */
uint32_t tpa_sql_stack(struct tpa_sql_stacks *stacks, size_t which, const struct tpa_stack *stack, size_t first,
		       size_t last);

/* The same of a node of a walk, with the allocator's own functions. False: the filter does not let it through. */
bool tpa_sql_node(struct tpa_sql_stacks *stacks, const struct tpa_walk *walk, uint32_t node, uint32_t *number);

/* Binds a text from a trace as valid UTF-8; NULL: NULL. */
void tpa_sql_bind_text(sqlite3_stmt *statement, int column, const char *text);

#endif
