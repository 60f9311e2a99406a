/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps blocks alive, as the latest search found it (TPROF_LEAKCHECK, tprof ctl holders). */
#ifndef TPROF_REPORT_ROWS_HOLDER_ROWS_H
#define TPROF_REPORT_ROWS_HOLDER_ROWS_H

#include "report/rows/stack.h"

#define TPA_HOLDER_PATH 48

/* From a root on; links[holder] retains the blocks. */
struct tpa_holder_path {
	const struct tpa_holder_link *links[TPA_HOLDER_PATH];
	size_t count, holder;
};

/* By what the blocks of a stack and op are held. NULL: no search found that. */
const struct tpa_held *tpa_held_find(const struct tpa_trace *trace, uint32_t node, uint32_t op);

/* Those of the latest search: the largest holders of all, or one for each stack. The caller frees the list. */
const struct tpa_held **tpa_held_list(const struct tpa_trace *trace, enum tprof_held what, size_t *count);

/* False: a record of the path is missing. */
bool tpa_holder_path(const struct tpa_trace *trace, const struct tpa_held *held, struct tpa_holder_path *path);

/* "global", "static", ...; NULL: it is no root. */
const char *tpa_holder_root(unsigned kind);

/* What a link is: "Tensor", "list, 320 items", "24 B of make_node()". */
void tpa_holder_type(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_holder_link *link,
		     char *text, size_t size);

/* A link with its name: "head (static)", "Node x 1,994". */
void tpa_holder_link_text(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_link *link, char *text, size_t size);

/*
 * Who holds the blocks of a stack and op, in one line: from the root to what retains them and a little further, as in
 * "head (static) -> 32 B of make_node() x 100,000: 3.05 MiB kept". False: it is not known, and text is "".
 */
bool tpa_holder_text(const struct tpa_trace *trace, struct tpa_symbols *symbols, uint32_t node, uint32_t op, char *text,
		     size_t size);

/* The same of a whole path, up to its end. */
void tpa_holder_path_text(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_path *path, size_t count, char *text, size_t size);

/* What may be wrong with it, a line each. "": nothing more. */
void tpa_holder_doubt(const struct tpa_trace *trace, size_t which, char *text, size_t size);

#endif
