/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/moments.h"
#include "model/replay/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/line/op_names.h"
#include "model/replay/start_times.h"
#include "report/text/progress.h"
#include "trace/events.h"

bool tpa_mark_named(const char *value, const char **text)
{
	if (strncmp(value, "mark:", 5) != 0 || !value[5])
		return false;
	*text = value + 5;
	return true;
}

bool tpa_step_named(const char *value, const char **number)
{
	if (strncmp(value, "step:", 5) != 0)
		return false;
	*number = value + 5;
	return true;
}

/* ---- marks ---- */

/* Nanoseconds since the run's start, or UINT64_MAX if the mark is missing. */
static uint64_t find_in(struct tpa_trace *trace, const char *text, uint64_t start_ns)
{
	struct tpa_events *events = tpa_events_open(trace);
	uint64_t found = UINT64_MAX;
	const struct tpa_event *event;
	size_t length = strlen(text);

	while (found == UINT64_MAX && (event = tpa_events_next(events)) != NULL)
		if (event->kind == TPA_EVENT_MARK && event->mark.length == length &&
		    memcmp(event->mark.text, text, length) == 0)
			found = start_ns + tpa_trace_ns(trace, event->time << trace->header->tick_shift);
	tpa_events_close(events);
	return found;
}

static int find_mark(struct tpa_trace *const *traces, size_t count, const char *option, const char *text, uint64_t *ns)
{
	struct tpa_start *starts = tpa_starts_find(traces, count);
	uint64_t start = tpa_starts_first(starts, count), best = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		uint64_t found = find_in(traces[i], text, starts[i].ns - start);

		best = found < best ? found : best;
	}
	free(starts);
	if (best == UINT64_MAX) {
		fprintf(stderr, "tprof-analyze: %s: there is no mark '%s' in the trace\n", option, text);
		return TPA_EXIT_USAGE;
	}
	*ns = best ? best : 1; /* 0 would mean no limit */
	return TPA_EXIT_OK;
}

static int find_marks(struct tpa_options *options, struct tpa_trace *const *traces, size_t count)
{
	int status = TPA_EXIT_OK;

	if (options->from_at.mark)
		status = find_mark(traces, count, "--from", options->from_at.mark, &options->from_ns);
	if (status == TPA_EXIT_OK && options->to_at.mark)
		status = find_mark(traces, count, "--to", options->to_at.mark, &options->to_ns);
	return status;
}

/* ---- steps ---- */

/* Replays as the command steps does, so that step numbers agree. */
static struct tpa_run *replay_steps(const struct tpa_options *options, struct tpa_trace *const *traces, size_t count)
{
	struct tpa_replay_options replay = {
		.group = TPA_GROUP_NONE,
		.find_steps = true,
		.threads = options->jobs,
		.step_ends = { options->from_at.step ? options->from_at.step - 1 : 0, options->to_at.step },
	};
	struct tpa_run *run;

	for (size_t i = 0; i < count; i++)
		tpa_op_names(traces[i], options->debug_dir);
	replay.progress_context = tpa_progress_new("looking for the step");
	if (replay.progress_context)
		replay.progress = tpa_progress_update;
	run = tpa_run_replay(traces, count, &replay);
	tpa_progress_free(replay.progress_context);
	return run;
}

static int no_such_step(const struct tpa_run *run, const char *option, uint64_t step)
{
	static const char *const known[] = {
		[TPA_STEPS_NONE] = "",
		[TPA_STEPS_MARKED] = "",
		[TPA_STEPS_AUTOGRAD] = ", each ended by a backward pass",
		[TPA_STEPS_PERIOD] = ", found by the period of its ops",
	};
	const struct tpa_step_stats *most = &run->processes[0].steps;

	for (size_t i = 1; i < run->process_count; i++)
		if (run->processes[i].steps.count > most->count)
			most = &run->processes[i].steps;
	if (most->count)
		fprintf(stderr, "tprof-analyze: %s step:%" PRIu64 ": the trace has %" PRIu64 " step%s%s\n", option,
			step, most->count, tpa_plural(most->count), known[most->source]);
	else
		fprintf(stderr,
			"tprof-analyze: %s step:%" PRIu64 ": no step is in the trace, and its ops have no period: mark "
			"their ends with tprof_step()\n",
			option, step);
	return TPA_EXIT_USAGE;
}

/* Nanoseconds since the run's start when the first process ends the step, or UINT64_MAX if none does. */
static uint64_t end_of_step(const struct tpa_run *run, size_t which)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < run->process_count; i++) {
		uint64_t ns = run->processes[i].steps.ends_ns[which];

		if (ns && ns < best)
			best = ns;
	}
	return best;
}

static bool any_step(const struct tpa_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].steps.count)
			return true;
	return false;
}

static int take_steps(struct tpa_options *options, const struct tpa_run *run)
{
	uint64_t before = end_of_step(run, 0), end = end_of_step(run, 1);

	if (options->from_at.step == 1 ? !any_step(run) : options->from_at.step && before == UINT64_MAX)
		return no_such_step(run, "--from", options->from_at.step);
	if (options->to_at.step && end == UINT64_MAX)
		return no_such_step(run, "--to", options->to_at.step);
	if (options->from_at.step > 1)
		options->from_ns = before + 1; /* excludes the event that ended the previous step */
	if (options->to_at.step)
		options->to_ns = end;
	return TPA_EXIT_OK;
}

static int find_steps(struct tpa_options *options, struct tpa_trace *const *traces, size_t count)
{
	struct tpa_run *run;
	int status;

	if (!options->from_at.step && !options->to_at.step)
		return TPA_EXIT_OK;
	run = replay_steps(options, traces, count);
	status = take_steps(options, run);
	tpa_run_free(run);
	return status;
}

/* ---- both ---- */

static int find_all(struct tpa_options *options, struct tpa_trace *const *traces, size_t count)
{
	int status = find_marks(options, traces, count);

	if (status == TPA_EXIT_OK)
		status = find_steps(options, traces, count);
	if (status == TPA_EXIT_OK && options->to_ns && options->to_ns <= options->from_ns) {
		fputs("tprof-analyze: --to must be later than --from\n", stderr);
		status = TPA_EXIT_USAGE;
	}
	return status;
}

static bool is_named(const struct tpa_moment *moment)
{
	return moment->mark || moment->step;
}

int tpa_moments_find(struct tpa_options *options)
{
	struct tpa_trace **traces;
	size_t count = 0;
	int status = TPA_EXIT_OK;

	if (!is_named(&options->from_at) && !is_named(&options->to_at))
		return TPA_EXIT_OK;
	traces = tpa_zalloc(options->trace_count, sizeof(*traces));
	for (size_t i = 0; i < options->trace_count; i++) {
		char *error = NULL;

		traces[count] = tpa_trace_open(options->traces[i], &error);
		if (traces[count] && options->process && traces[count]->header->pid != options->process)
			tpa_trace_close(
				traces[count]); /* as the command will: times count from the first trace's start */
		else
			count += traces[count] != NULL;
		free(error);
	}
	if (count)
		status = find_all(options, traces, count);
	for (size_t i = 0; i < count; i++)
		tpa_trace_close(traces[i]);
	free(traces);
	return status;
}
