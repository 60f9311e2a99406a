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

/* Adds the traces of the folder and, behind them, its bundles: those may have been made of these traces. */
static void walk_folder(struct inputs *inputs, char *folder)
{
	char *begin[] = { folder, NULL }, **bundles = NULL;
	FTS *walk = fts_open(begin, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	size_t count = 0, room = 0;
	FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F && tpa_bundle_is(entry->fts_path))
			*TPA_APPEND(bundles, count, room) = tpa_strdup(entry->fts_path);
		else if (entry->fts_info == FTS_F && tpa_trace_is(entry->fts_path))
			add_owned(inputs, tpa_strdup(entry->fts_path));
	if (walk)
		fts_close(walk);
	for (size_t i = 0; i < count; i++) {
		add_bundle(inputs, bundles[i]);
		free(bundles[i]);
	}
	free(bundles);
}

/* What tells a process from all others. */
struct identity {
	uint64_t pid, unix_ns, ticks;
};

static bool same_process(const struct identity *a, const struct identity *b)
{
	return a->pid == b->pid && a->unix_ns == b->unix_ns && a->ticks == b->ticks;
}

/* False: the file can't be read, and opening it reports an error. */
static bool identify(const char *file, struct identity *identity)
{
	struct tprof_header header;

	if (!tpa_trace_peek(file, &header))
		return false;
	*identity = (struct identity){ header.pid, header.start.unix_ns, header.start.ticks };
	return true;
}

/* Keeps the first trace of each process among those from `first` on: the others are copies of it, compact or in a bundle. */
static void drop_copies(struct inputs *inputs, size_t first, const char *folder)
{
	struct identity *kept = tpa_zalloc(inputs->count - first + 1, sizeof(*kept));
	size_t count = 0, copies = 0;

	for (size_t i = first; i < inputs->count; i++) {
		const char *file = inputs->list[i];
		size_t same = count;

		if (identify(file, &kept[count]))
			for (same = 0; same < count && !same_process(&kept[same], &kept[count]);)
				same++;
		if (same < count && !copies++)
			fprintf(stderr, "tprof-analyze: %s: %s is a copy of %s", folder, file,
				inputs->list[first + same]);
		if (same == count)
			inputs->list[first + count++] = file;
	}
	if (copies > 1)
		fprintf(stderr, ", and %zu more traces are copies, too", copies - 1);
	if (copies)
		fputs(": each process is read once\n", stderr);
	inputs->count = first + count;
	free(kept);
}

/* A folder without traces stays itself, too. */
static void add_folder(struct inputs *inputs, const char *folder)
{
	char *path = tpa_strdup(folder);
	size_t length = strlen(path), before = inputs->count;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	walk_folder(inputs, path);
	drop_copies(inputs, before, path);
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
