/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/input/compact_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/line/command.h"
#include "commands/line/op_names.h"
#include "report/text/output.h"
#include "symbols/allocators.h"
#include "symbols/embedded.h"
#include "trace/compact_trace.h"
#include "trace/jit.h"

uint8_t *tpa_compact_names_of(struct tpa_trace *trace, const struct tpa_options *options,
			      const struct tpa_rename *rename, size_t *length)
{
	struct tpa_symbols_options how = { .debug_dir = options->debug_dir };
	struct tpa_allocators allocators = { 0 };
	struct tpa_symbols *symbols;
	uint8_t *names;

	tpa_jit_load(trace, options->debug_dir);
	tpa_op_names(trace, options->debug_dir);
	tpa_allocators_find(&allocators, trace, options->debug_dir);
	symbols = tpa_symbols_open(trace, &how);
	names = tpa_embedded_make(trace, symbols, rename, length);
	tpa_symbols_close(symbols);
	tpa_allocators_free(&allocators);
	return names;
}

int tpa_compact_save(struct tpa_trace *trace, const struct tpa_options *options, const uint8_t *names, size_t length)
{
	struct tpa_output output;
	FILE *file = tpa_output_open(&output, options->output);
	char *error = NULL;
	bool good;

	if (!file) {
		fprintf(stderr, "tprof-analyze: %s: can't be written: %s\n", options->output, tpa_output_error(errno));
		return TPA_EXIT_USAGE;
	}
	good = tpa_trace_compact(trace, file, names, length, NULL, &error);
	if ((fclose(file) != 0 || !tpa_output_end(&output, good)) && good) {
		error = tpa_format("can't be written: %s", strerror(errno));
		good = false;
	}
	tpa_output_end(&output, false);
	if (!good)
		fprintf(stderr, "tprof-analyze: %s: %s\n", options->output, error);
	free(error);
	return good ? TPA_EXIT_OK : TPA_EXIT_USAGE;
}
