/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the names of a frame: function, file, line, and the functions inlined there. Uses libdwfl; looks up each
 * address once, and opens modules on first use. Not thread-safe.
 */
#ifndef TPROF_SYMBOLS_SYMBOLS_H
#define TPROF_SYMBOLS_SYMBOLS_H

#include "symbols/location.h"
#include "trace/trace.h"

/* Which frames of a stack are shown. */
enum tpa_language {
	TPA_LANGUAGE_MIXED,
	TPA_LANGUAGE_PYTHON, /* only Python frames, if there are any */
	TPA_LANGUAGE_NATIVE,
};

struct tpa_symbols_options {
	const char *debug_dir; /* searched before the system's; NULL: none */
	enum tpa_language language;
	bool interpreter; /* mixed: also show the interpreter's own frames outside of a Python frame */
};

struct tpa_symbols;

/* The options with which `symbols` was opened. */
const struct tpa_symbols_options *tpa_symbols_options(const struct tpa_symbols *symbols);

struct tpa_symbols *tpa_symbols_open(const struct tpa_trace *trace, const struct tpa_symbols_options *options);
void tpa_symbols_close(struct tpa_symbols *symbols);

/* The names of a frame, by its number in the trace. Never NULL; owned by `symbols`. */
const struct tpa_symbol *tpa_symbols_frame(struct tpa_symbols *symbols, uint32_t frame);

/* Upper bound of location numbers (exclusive). */
uint32_t tpa_symbols_locations(const struct tpa_symbols *symbols);

/* The state of a module's file, for modules that were used. */
enum tpa_module_state tpa_symbols_module_state(const struct tpa_symbols *symbols, const struct tpa_module *module);

/* Were names found nevertheless, by the build-id? */
bool tpa_symbols_module_is_named(const struct tpa_symbols *symbols, const struct tpa_module *module);

#endif
