/* SPDX-License-Identifier: Apache-2.0 */
/* The file that compact and import write. */
#ifndef TPROF_COMMANDS_INPUT_COMPACT_FILE_H
#define TPROF_COMMANDS_INPUT_COMPACT_FILE_H

#include "commands/line/options.h"
#include "symbols/embedded_bytes.h"
#include "trace/trace.h"

/* Looks up all names of the trace, as --embed-symbols does; a heap block of *length bytes. `rename`: of all texts; NULL: none. */
uint8_t *tpa_compact_names_of(struct tpa_trace *trace, const struct tpa_options *options,
			      const struct tpa_rename *rename, size_t *length);

/*
 * Writes the trace to options->output as a compact one, with these names, unless they are NULL. Says on stderr what failed;
 * returns enum tpa_exit.
 */
int tpa_compact_save(struct tpa_trace *trace, const struct tpa_options *options, const uint8_t *names, size_t length);

#endif
