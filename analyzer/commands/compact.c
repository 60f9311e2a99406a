/* SPDX-License-Identifier: Apache-2.0 */
/* compact: writes a trace into a smaller file, which all commands read as they read the trace. */
#include <stdio.h>
#include <stdlib.h>

#include "commands/line/command.h"
#include "commands/input/compact_file.h"

int tpa_cmd_compact(const struct tpa_options *options)
{
	char *error = NULL;
	struct tpa_trace *trace;
	uint8_t *names = NULL;
	size_t length = 0;
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
	if (options->embed_symbols)
		names = tpa_compact_names_of(trace, options, NULL, &length);
	status = tpa_compact_save(trace, options, names, length);
	free(names);
	tpa_trace_close(trace);
	return status;
}
