/* SPDX-License-Identifier: Apache-2.0 */
/* import: makes a trace of what another profiler has recorded, so that the other commands read it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/line/command.h"
#include "commands/input/compact_file.h"
#include "import/import.h"

/* A file that no name leads to; NULL: errno says why. */
static FILE *temporary(void)
{
	const char *folder = getenv("TMPDIR");
	char *name = tpa_format("%s/tprof-import.XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(name, O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (fd >= 0)
		unlink(name);
	free(name);
	return file;
}

/* Names come from the imported file, else from the files of the program: they may not be there later. */
static int save(FILE *file, struct tpa_imported *imported, const struct tpa_options *options)
{
	char *path = tpa_format("/proc/self/fd/%d", fileno(file)), *error = NULL;
	struct tpa_trace *trace = tpa_trace_open(path, &error);
	int status;

	free(path);
	if (!trace) {
		fprintf(stderr, "tprof-analyze: %s: %s\n", options->traces[0], error);
		free(error);
		return TPA_EXIT_TRACE;
	}
	if (!imported->names)
		imported->names = tpa_compact_names_of(trace, options, NULL, &imported->names_length);
	status = tpa_compact_save(trace, options, imported->names, imported->names_length);
	tpa_trace_close(trace);
	return status;
}

int tpa_cmd_import(const struct tpa_options *options)
{
	struct tpa_imported imported;
	char *error = NULL;
	FILE *file;
	int status;

	if (!options->output || options->trace_count != 1) {
		fputs("tprof-analyze: import reads one file and writes a trace: import FILE -o TRACE\n", stderr);
		return TPA_EXIT_USAGE;
	}
	file = temporary();
	if (!file) {
		fprintf(stderr, "tprof-analyze: no temporary file in TMPDIR: %s\n", strerror(errno));
		return TPA_EXIT_USAGE;
	}
	if (tpa_import(options->traces[0], file, &imported, &error)) {
		status = save(file, &imported, options);
		if (imported.cut)
			fprintf(stderr, "tprof-analyze: %s\n", imported.cut);
	} else {
		fprintf(stderr, "tprof-analyze: %s\n", error);
		status = TPA_EXIT_TRACE;
	}
	free(error);
	tpa_imported_free(&imported);
	fclose(file);
	return status;
}
