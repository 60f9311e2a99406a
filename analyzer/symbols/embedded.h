/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reports take from the program's files, as a compact trace can hold it (tprof-trace(5), COMPACT TRACES): the names of frames
 * and ops, what unwind tables cover, which allocators there are. With it a trace is read where these files are not.
 */
#ifndef TPROF_SYMBOLS_EMBEDDED_H
#define TPROF_SYMBOLS_EMBEDDED_H

#include "symbols/cfi.h"
#include "symbols/embedded_bytes.h"
#include "symbols/symbols.h"

struct tpa_embedded;

struct tpa_embedded_op {
	uint32_t op;
	const char *name;
	bool has_symbol;
};

/*
 * Looks up all that is to be embedded. `symbols` is of the trace, whose ops have got their names and whose allocators were looked
 * for. `rename`: of all texts; NULL: none. Returns a heap block of *length bytes.
 */
uint8_t *tpa_embedded_make(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_rename *rename,
			   size_t *length);

/* NULL: the trace has none. Lives on when the trace is closed or refreshed. */
struct tpa_embedded *tpa_embedded_open(const struct tpa_trace *trace);
void tpa_embedded_close(struct tpa_embedded *embedded);

/* The locations of a native frame, innermost first, with their number; NULL: there are none. Owned by `embedded`. */
const struct tpa_location *tpa_embedded_frame(const struct tpa_embedded *embedded, const struct tpa_frame *frame,
					      size_t *count);

/* False: it was not looked up. */
bool tpa_embedded_cfi(const struct tpa_embedded *embedded, const struct tpa_frame *frame, struct tpa_cfi_place *place);

/* Of the module with that number, what tpa_symbols_module_state() and tpa_symbols_module_is_named() said. False: unknown. */
bool tpa_embedded_module(const struct tpa_embedded *embedded, uint32_t id, enum tpa_module_state *state, bool *named);

const struct tpa_embedded_op *tpa_embedded_ops(const struct tpa_embedded *embedded, size_t *count);
const struct tpa_unseen_allocator *tpa_embedded_allocators(const struct tpa_embedded *embedded, size_t *count);

#endif
