/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps blocks alive, according to the latest search (TPROF_LEAKCHECK, tprof ctl holders). */
#ifndef TPROF_REPORT_ROWS_HOLDER_ROWS_H
#define TPROF_REPORT_ROWS_HOLDER_ROWS_H

#include "report/rows/stack.h"

#define TPA_HOLDER_PATH 48

/* A path of links from a root to the blocks; links[holder] is the one that retains them. */
struct tpa_holder_path {
	const struct tpa_holder_link *links[TPA_HOLDER_PATH];
	size_t count, holder;
};

/*
 * Finds what holds the blocks of a stack and op; if that is not known for the op, for the op of this stack with the
 * most bytes. NULL: the latest search found nothing.
 */
const struct tpa_held *tpa_held_find(const struct tpa_trace *trace, uint32_t node, uint32_t op);

/*
 * Lists what the latest search found, most bytes first: the largest holders of all (TPROF_HELD_LARGEST), or one for
 * each stack (TPROF_HELD_STACK). The caller frees the list.
 */
const struct tpa_held **tpa_held_list(const struct tpa_trace *trace, enum tprof_held what, size_t *count);

/* Fills *path. False: a record of the path is missing, or it has more than TPA_HOLDER_PATH links. */
bool tpa_holder_path(const struct tpa_trace *trace, const struct tpa_held *held, struct tpa_holder_path *path);

/* The name of a kind of root: "global", "static", ...; NULL: the kind is no root. */
const char *tpa_holder_root(unsigned kind);

/* Writes what a link is to `text`: "Tensor", "list, 320 items", "24 B of make_node()"; "": unknown. */
void tpa_holder_type(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_holder_link *link,
		     char *text, size_t size);

/* Writes a link and its name to `text`: "head (static)", "Node x 1,994". */
void tpa_holder_link_text(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_link *link, char *text, size_t size);

/*
 * Writes who holds the blocks of a stack and op to `text`, in one line: from the root to the link that retains them
 * and up to two links more, as in "head (static) -> 32 B of make_node() x 100,000: 3.05 MiB kept". False: unknown,
 * and text is "".
 */
bool tpa_holder_text(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node, uint32_t op, char *text,
		     size_t size);

/* Writes the first `count` links of a path to `text`, without the bytes kept. */
void tpa_holder_path_text(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_path *path, size_t count, char *text, size_t size);

/*
 * Writes the caveat number `which` (from 0) about the latest search to `text`; "": it does not apply, or there is
 * none of that number.
 */
void tpa_holder_doubt(const struct tpa_trace *trace, size_t which, char *text, size_t size);

#endif
