/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which lines of stacks are the same: each has an interned text as its key, so that equal lines have the same
 * pointer, also across processes.
 */
#ifndef TPROF_REPORT_ROWS_LINE_KEYS_H
#define TPROF_REPORT_ROWS_LINE_KEYS_H

#include "base/pairs.h"
#include "report/rows/stack.h"
#include "base/arena.h"

enum tpa_key {
	TPA_KEY_LINE,	  /* function, file, line, module: the same text in a printed stack */
	TPA_KEY_FUNCTION, /* function and module */
	TPA_KEY_PLACE,	  /* file and line */
	TPA_KEY_MODULE,
};

struct tpa_keys {
	struct tpa_arena *arena;
	struct tpa_pairs known; /* (location, kind) to index */
	const char **list;
	size_t count, capacity;
};

void tpa_keys_init(struct tpa_keys *keys);
void tpa_keys_free(struct tpa_keys *keys);

/* Returns the key of a line; it lives as long as `keys`. The symbols of the line must stay open as long as `keys`. */
const char *tpa_keys_get(struct tpa_keys *keys, const struct tpa_line *line, enum tpa_key kind);

#endif
