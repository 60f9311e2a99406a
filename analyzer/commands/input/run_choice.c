/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/input/run_choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/order.h"
#include "commands/input/file_runs.h"
#include "commands/line/moments.h"
#include "report/json/json.h"

struct group {
	uint64_t run;	/* of struct tpa_file_run */
	uint64_t start; /* of its earliest process in the traces */
	const char **files;
	size_t count;
};

struct groups {
	struct group *list;
	size_t count;
	struct tpa_file_run *files; /* of all traces */
};

static struct group *group_of(struct groups *groups, uint64_t run, size_t most)
{
	struct group *group = groups->list;

	while (group < groups->list + groups->count && group->run != run)
		group++;
	if (group < groups->list + groups->count)
		return group;
	*group = (struct group){ .run = run, .start = UINT64_MAX, .files = tpa_zalloc(most, sizeof(*group->files)) };
	groups->count++;
	return group;
}

static void add_trace(struct groups *groups, const char *path, const struct tpa_file_run *file, size_t most)
{
	struct group *group = group_of(groups, file->run, most);

	group->files[group->count++] = path;
	if (file->header.start.unix_ns < group->start)
		group->start = file->header.start.unix_ns;
}

/* Is it a trace that the command is to look at? */
static bool is_wanted(const struct tpa_options *options, const struct tpa_file_run *file)
{
	return file->readable && (!options->process || file->header.pid == options->process);
}

static void free_groups(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free((void *)groups->list[i].files);
	free(groups->list);
	free(groups->files);
}

static void find_groups(const struct tpa_options *options, struct groups *groups)
{
	size_t count = options->trace_count;

	*groups = (struct groups){ tpa_zalloc(count + 1, sizeof(*groups->list)), 0,
				   tpa_file_runs(options->traces, count) };
	for (size_t i = 0; i < count; i++)
		if (is_wanted(options, &groups->files[i]))
			add_trace(groups, options->traces[i], &groups->files[i], count);
	TPA_SORT(groups->list, groups->count, start);
}

static int run_once(struct tpa_options options)
{
	int status = tpa_moments_find(&options);

	return status == TPA_EXIT_OK ? options.command->run(&options) : status;
}

/* Runs the command on the newest run. Keeps unreadable files, so that they are reported. */
static int run_newest(const struct tpa_options *options, const struct groups *groups)
{
	const struct group *newest = &groups->list[groups->count - 1];
	const char **kept = tpa_zalloc(options->trace_count, sizeof(*kept)),
		   **left = tpa_zalloc(options->trace_count, sizeof(*left));
	struct tpa_options own = *options;
	int status;

	own.traces = kept;
	own.left_out = left;
	own.trace_count = own.left_out_count = 0;
	own.left_out_runs = groups->count - 1;
	for (size_t i = 0; i < options->trace_count; i++) {
		if (is_wanted(options, &groups->files[i]) && groups->files[i].run != newest->run)
			left[own.left_out_count++] = options->traces[i];
		else
			kept[own.trace_count++] = options->traces[i];
	}
	status = run_once(own);
	free((void *)kept);
	free((void *)left);
	return status;
}

static void print_head(const struct groups *groups, size_t number)
{
	const struct group *group = &groups->list[number];
	time_t start = (time_t)(group->start / 1000000000u);
	char when[64] = "";
	struct tm tm;

	if (localtime_r(&start, &tm))
		strftime(when, sizeof(when), "%F %T", &tm);
	printf("%sRun %zu of %zu: started %s, %zu trace%s\n\n", number ? "\n\n" : "", number + 1, groups->count, when,
	       group->count, tpa_plural(group->count));
}

static int run_each(const struct tpa_options *options, const struct groups *groups)
{
	int worst = TPA_EXIT_OK;

	if (options->output) {
		fputs("tprof-analyze: --all-runs prints a report for each run; -o takes one: name one run's traces\n",
		      stderr);
		return TPA_EXIT_USAGE;
	}
	if (options->json)
		fputs("{\"schema\": \"tprof/1\", \"runs\": [\n", stdout);
	for (size_t i = 0; i < groups->count; i++) {
		struct tpa_options own = *options;
		int status;

		own.traces = groups->list[i].files;
		own.trace_count = groups->list[i].count;
		if (!options->json)
			print_head(groups, i);
		else if (i)
			fputs(",\n", stdout);
		status = run_once(own);
		worst = status > worst ? status : worst;
	}
	if (options->json)
		fputs("]}\n", stdout);
	return worst;
}

/* Those that tell runs apart themselves, or keep all. */
static bool takes_all(const struct tpa_command *command)
{
	return command->run == tpa_cmd_diff || command->run == tpa_cmd_compare || command->run == tpa_cmd_check ||
	       command->run == tpa_cmd_bundle;
}

int tpa_run_choice(const struct tpa_options *options)
{
	struct groups groups;
	int status;

	if (takes_all(options->command))
		return run_once(*options);
	find_groups(options, &groups);
	if (options->all_runs && groups.count)
		status = run_each(options, &groups);
	else if (groups.count > 1)
		status = run_newest(options, &groups);
	else
		status = run_once(*options);
	free_groups(&groups);
	return status;
}

const char *tpa_left_out(const struct tpa_options *options, char *text, size_t size)
{
	size_t count = options->left_out_count, runs = options->left_out_runs;
	char of[40] = "an earlier run";

	text[0] = '\0';
	if (runs > 1)
		snprintf(of, sizeof(of), "%zu earlier runs", runs);
	if (count)
		snprintf(text, size, "%zu of these %zu traces %s of %s; left out; %s", count,
			 options->trace_count + count, count == 1 ? "is" : "are", of,
			 options->command->options & TPA_OPT_RUNS ? "--all-runs puts runs side by side"
								  : "name one run's traces for another");
	return text;
}

json_t *tpa_left_out_json(const struct tpa_options *options)
{
	json_t *list = json_array();

	for (size_t i = 0; i < options->left_out_count; i++)
		json_array_append_new(list, tpa_json_string(options->left_out[i]));
	return list;
}
