/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/inputs.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/line/command.h"
#include "trace/bundle.h"
#include "trace/trace.h"

struct inputs {
	const char **list;
	size_t count, room;
	struct tpa_options *options; /* owns names that were made */
};

static void say(const char *sentence)
{
	fprintf(stderr, "tprof-analyze: %s\n", sentence);
}

static void add(struct inputs *inputs, const char *file)
{
	*TPA_APPEND(inputs->list, inputs->count, inputs->room) = file;
}

static void add_owned(struct inputs *inputs, char *file)
{
	struct tpa_options *options = inputs->options;

	options->owned = tpa_resize(options->owned, options->owned_count + 1, sizeof(*options->owned));
	options->owned[options->owned_count++] = file;
	add(inputs, file);
}

/* Stays itself if nothing in it can be read: opening it reports an error. */
static void add_bundle(struct inputs *inputs, const char *file)
{
	size_t count;
	char **names = tpa_bundle_list(file, &count, say);

	for (size_t i = 0; i < count; i++)
		add_owned(inputs, names[i]);
	free(names);
	if (!count)
		add_owned(inputs, tpa_strdup(file));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

bool tpa_is_folder(const char *file)
{
	struct stat status;

	return stat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A folder without traces stays itself, too. */
static void add_folder(struct inputs *inputs, const char *folder)
{
	char *path = tpa_strdup(folder), *begin[] = { path, NULL };
	size_t length = strlen(path), before = inputs->count;
	FTSENT *entry;
	FTS *walk;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	walk = fts_open(begin, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F && tpa_bundle_is(entry->fts_path))
			add_bundle(inputs, entry->fts_path);
		else if (entry->fts_info == FTS_F && tpa_trace_is(entry->fts_path))
			add_owned(inputs, tpa_strdup(entry->fts_path));
	if (walk)
		fts_close(walk);
	free(path);
	if (inputs->count == before)
		add(inputs, folder);
}

static struct inputs expand(struct tpa_options *options, const char *const *files, size_t count)
{
	struct inputs inputs = { .options = options };

	for (size_t i = 0; i < count; i++)
		if (tpa_bundle_is(files[i]))
			add_bundle(&inputs, files[i]);
		else if (tpa_is_folder(files[i]))
			add_folder(&inputs, files[i]);
		else
			add(&inputs, files[i]);
	return inputs;
}

/* Two runs, of which one at least is a bundle or a folder, of any number of traces. */
static bool is_run(const char *file)
{
	return tpa_bundle_is(file) || tpa_is_folder(file);
}

static bool is_diff_of_runs(const struct tpa_options *options)
{
	return options->command->run == tpa_cmd_diff && !options->baseline_count && options->trace_count == 2 &&
	       (is_run(options->traces[0]) || is_run(options->traces[1]));
}

void tpa_inputs_expand(struct tpa_options *options)
{
	size_t old = is_diff_of_runs(options) ? 1 : 0;
	struct inputs baselines = old ? expand(options, options->traces, 1)
				      : expand(options, options->baselines, options->baseline_count),
		      traces = expand(options, options->traces + old, options->trace_count - old);

	free((void *)options->baselines);
	options->baselines = baselines.list;
	options->baseline_count = baselines.count;
	options->named = options->traces;
	options->named_count = options->trace_count;
	options->named_traces = old ? 0 : traces.count; /* those of a diff name two runs */
	options->traces = traces.list;
	options->trace_count = traces.count;
}

void tpa_inputs_free(struct tpa_options *options)
{
	for (size_t i = 0; i < options->owned_count; i++)
		free(options->owned[i]);
	free(options->owned);
	free((void *)options->named);
	options->named = NULL;
	options->owned = NULL;
	options->owned_count = 0;
}
