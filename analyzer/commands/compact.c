/* SPDX-License-Identifier: Apache-2.0 */
/* compact: writes a trace into a smaller file, which all commands read as they read the trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/command.h"
#include "commands/op_names.h"
#include "report/text/output.h"
#include "symbols/allocators.h"
#include "symbols/embedded.h"
#include "trace/compact_trace.h"
#include "trace/jit.h"

/* What --embed-symbols puts into the file; a heap block. */
static uint8_t *names_of(struct tpa_trace *trace, const struct tpa_options *options, size_t *length)
{
	struct tpa_symbols_options how = { .debug_dir = options->debug_dir };
	struct tpa_allocators allocators = { 0 };
	struct tpa_symbols *symbols;
	uint8_t *names;

	tpa_jit_load(trace, options->debug_dir);
	tpa_op_names(trace, options->debug_dir);
	tpa_allocators_find(&allocators, trace, options->debug_dir);
	symbols = tpa_symbols_open(trace, &how);
	names = tpa_embedded_make(trace, symbols, length);
	tpa_symbols_close(symbols);
	tpa_allocators_free(&allocators);
	return names;
}

static int write_file(struct tpa_trace *trace, const struct tpa_options *options)
{
	FILE *file = tpa_output_open(options->output);
	uint8_t *names = NULL;
	size_t length = 0;
	char *error = NULL;
	bool good;

	if (!file) {
		fprintf(stderr, "tprof-analyze: %s: can't be written: %s\n", options->output, tpa_output_error(errno));
		return TPA_EXIT_USAGE;
	}
	if (options->embed_symbols)
		names = names_of(trace, options, &length);
	good = tpa_trace_compact(trace, file, names, length, &error);
	free(names);
	if (fclose(file) != 0 && good) {
		error = tpa_format("can't be written: %s", strerror(errno));
		good = false;
	}
	if (!good)
		fprintf(stderr, "tprof-analyze: %s: %s\n", options->output, error);
	free(error);
	return good ? TPA_EXIT_OK : TPA_EXIT_USAGE;
}

int tpa_cmd_compact(const struct tpa_options *options)
{
	char *error = NULL;
	struct tpa_trace *trace;
	int status;

	if (!options->output) {
		fputs("tprof-analyze: compact writes a file: -o FILE says which\n", stderr);
		return TPA_EXIT_USAGE;
	}
	if (options->trace_count != 1) {
		fputs("tprof-analyze: compact takes one trace: the processes of a run have a file each\n", stderr);
		return TPA_EXIT_USAGE;
	}
	trace = tpa_trace_open(options->traces[0], &error);
	if (!trace) {
		fprintf(stderr, "tprof-analyze: %s\n", error);
		free(error);
		return TPA_EXIT_TRACE;
	}
	status = write_file(trace, options);
	tpa_trace_close(trace);
	return status;
}
