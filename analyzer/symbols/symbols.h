/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the names of a frame: function, file, line, with the functions inlined there. Uses libdwfl; each address is
 * looked up once, and modules are opened on first use. Not thread-safe.
 */
#ifndef TPROF_SYMBOLS_SYMBOLS_H
#define TPROF_SYMBOLS_SYMBOLS_H

#include "symbols/location.h"
#include "trace/trace.h"

/* Which frames of a stack are shown. */
enum tp_language {
	TP_LANGUAGE_MIXED,
	TP_LANGUAGE_PYTHON, /* Python frames alone, if there are any */
	TP_LANGUAGE_NATIVE,
};

struct tp_symbols_options {
	const char *debug_dir; /* searched before the system's; NULL: none */
	enum tp_language language;
	bool interpreter; /* mixed: also show the interpreter's own frames outside of a Python frame */
};

struct tp_symbols;

/* The options with which `symbols` was opened. */
const struct tp_symbols_options *tp_symbols_options(const struct tp_symbols *symbols);

struct tp_symbols *tp_symbols_open(const struct tp_trace *trace, const struct tp_symbols_options *options);
void tp_symbols_close(struct tp_symbols *symbols);

/* The names of a frame of the trace, by its number. Never NULL; owned by `symbols`. */
const struct tp_symbol *tp_symbols_frame(struct tp_symbols *symbols, uint32_t frame);

/* All numbers of locations are below this number. */
uint32_t tp_symbols_locations(const struct tp_symbols *symbols);

/* The state of a module's file (for modules that were used so far). */
enum tp_module_state tp_symbols_module_state(const struct tp_symbols *symbols, const struct tp_module *module);

/* Were names found for it anyway, by its build-id? */
bool tp_symbols_module_is_named(const struct tp_symbols *symbols, const struct tp_module *module);

#endif
