/* SPDX-License-Identifier: Apache-2.0 */
/* bundle: writes the traces of a run into one file, as compact ones with their names, which all commands read as they read the traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/tar.h"
#include "commands/line/command.h"
#include "commands/input/compact_file.h"
#include "commands/strip.h"
#include "report/text/output.h"
#include "trace/compact_trace.h"

struct bundle {
	const struct tpa_options *options;
	FILE *file;
	struct tpa_strip *strip; /* NULL: all names stay */
	char **names;		 /* of the members so far */
	size_t count, room;
};

/* ---- names of members ---- */

static bool is_taken(const struct bundle *bundle, const char *name)
{
	for (size_t i = 0; i < bundle->count; i++)
		if (strcmp(bundle->names[i], name) == 0)
			return true;
	return false;
}

/* The last parts of a path: FOLDER/NAME for 2. */
static const char *last_parts(const char *path, int parts)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --parts > 0))
		at--;
	while (*at == '/' || strncmp(at, "./", 2) == 0 || strncmp(at, "../", 3) == 0)
		at += strcspn(at, "/") + 1;
	return at;
}

/* FOLDER/NAME, with more of the path if another trace has that; with a number, where this does not help either. */
static char *member_name(const struct bundle *bundle, const char *path)
{
	const char *shorter = last_parts(path, 1);

	for (int parts = 2; parts < 8; parts++) {
		const char *name = last_parts(path, parts);

		if (tpa_tar_name_fits(name) && !is_taken(bundle, name))
			return tpa_strdup(name);
	}
	return tpa_format("%zu/%s", bundle->count + 1, tpa_tar_name_fits(shorter) ? shorter : "trace.bin");
}

/* ---- writing ---- */

/* False: *error (a heap string) says why. */
static bool add_member(struct bundle *bundle, struct tpa_trace *trace, const char *name, char **error)
{
	off_t begin = ftello(bundle->file);
	uint64_t time = trace->header->start.unix_ns / 1000000000u;
	size_t length;
	struct tpa_compact_edit edit = tpa_strip_edit(bundle->strip);
	struct tpa_rename rename = tpa_strip_rename(bundle->strip);
	uint8_t *names = tpa_compact_names_of(trace, bundle->options, bundle->strip ? &rename : NULL, &length);
	bool good = tpa_tar_begin(bundle->file, name, time);

	if (good) {
		good = tpa_trace_compact(trace, bundle->file, names, length, bundle->strip ? &edit : NULL, error);
		if (good)
			good = tpa_tar_end(bundle->file, name, time, begin);
	}
	free(names);
	if (!good && !*error)
		*error = tpa_format("can't be written: %s", strerror(errno));
	return good;
}

/* NULL after a line on stderr: it can't be read, or its names can't be replaced. */
static struct tpa_trace *open_trace(const struct bundle *bundle, const char *path)
{
	char *reason = NULL;
	struct tpa_trace *trace = tpa_trace_open(path, &reason);

	if (trace && bundle->strip && !tpa_strip_can(bundle->strip, trace, &reason)) {
		tpa_trace_close(trace);
		trace = NULL;
	}
	if (!trace)
		fprintf(stderr, "tprof-analyze: %s; left out\n", reason);
	free(reason);
	return trace;
}

/* One that can't be is left out. */
static bool add_trace(struct bundle *bundle, const char *path, char **error)
{
	struct tpa_trace *trace = open_trace(bundle, path);
	char *name;
	bool good;

	if (!trace)
		return true;
	name = member_name(bundle, bundle->strip ? tpa_strip_name(bundle->strip, path) : path);
	*TPA_APPEND(bundle->names, bundle->count, bundle->room) = name;
	good = add_member(bundle, trace, name, error);
	tpa_trace_close(trace);
	return good;
}

static bool add_all(struct bundle *bundle, char **error)
{
	const struct tpa_options *options = bundle->options;
	bool good = true;

	for (size_t i = 0; good && i < options->trace_count; i++)
		good = add_trace(bundle, options->traces[i], error);
	if (good && bundle->count && !tpa_tar_finish(bundle->file)) {
		*error = tpa_format("can't be written: %s", strerror(errno));
		good = false;
	}
	return good;
}

static int write_bundle(const struct tpa_options *options, struct tpa_output *output, FILE *file)
{
	struct bundle bundle = { .options = options, .file = file };
	char *error = NULL;
	bool good;

	if (options->strip_names)
		bundle.strip = tpa_strip_new(options->strip_names);
	good = add_all(&bundle, &error);
	tpa_strip_free(bundle.strip);
	if ((fclose(file) != 0 || !tpa_output_end(output, good && bundle.count)) && good) {
		error = tpa_format("can't be written: %s", strerror(errno));
		good = false;
	}
	tpa_output_end(output, false);
	if (!good)
		fprintf(stderr, "tprof-analyze: %s: %s\n", options->output, error);
	free(error);
	for (size_t i = 0; i < bundle.count; i++)
		free(bundle.names[i]);
	free(bundle.names);
	if (good && !bundle.count)
		return TPA_EXIT_TRACE;
	return good ? TPA_EXIT_OK : TPA_EXIT_USAGE;
}

/* The sizes of members are written when they are known. */
static bool is_regular(const char *path)
{
	struct stat status;

	return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

int tpa_cmd_bundle(const struct tpa_options *options)
{
	struct tpa_output output;
	FILE *file;

	if (!options->output) {
		fputs("tprof-analyze: bundle writes a file: -o FILE says which\n", stderr);
		return TPA_EXIT_USAGE;
	}
	if (!is_regular(options->output)) {
		fprintf(stderr, "tprof-analyze: %s: can't be written: it is no regular file\n", options->output);
		return TPA_EXIT_USAGE;
	}
	file = tpa_output_open(&output, options->output);
	if (file)
		return write_bundle(options, &output, file);
	fprintf(stderr, "tprof-analyze: %s: can't be written: %s\n", options->output, tpa_output_error(errno));
	return TPA_EXIT_USAGE;
}
