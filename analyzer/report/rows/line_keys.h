/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes two lines of stacks the same: an interned text for each, so that equal means the same pointer, also
 * between processes.
 */
#ifndef TPROF_REPORT_ROWS_LINE_KEYS_H
#define TPROF_REPORT_ROWS_LINE_KEYS_H

#include "base/pairs.h"
#include "report/rows/stack.h"
#include "base/arena.h"

enum tp_key {
	TP_KEY_LINE,	 /* function, file, line, module: the same text in a printed stack */
	TP_KEY_FUNCTION, /* function and module */
	TP_KEY_PLACE,	 /* file and line */
	TP_KEY_MODULE,
};

struct tp_keys {
	struct tp_arena *arena;
	struct tp_pairs known; /* (location, kind) to index */
	const char **list;
	size_t count, capacity;
};

bool tp_keys_init(struct tp_keys *keys); /* false: memory is out */
void tp_keys_free(struct tp_keys *keys);

/* The symbols of the line must stay open as long as the keys. NULL: memory is out. */
const char *tp_keys_get(struct tp_keys *keys, const struct tp_line *line, enum tp_key kind);

#endif
