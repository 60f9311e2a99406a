/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run.h"
#include "trace/events.h"

bool tp_mark_named(const char *value, const char **text)
{
	if (strncmp(value, "mark:", 5) != 0 || !value[5])
		return false;
	*text = value + 5;
	return true;
}

/* Nanoseconds since the run's start; UINT64_MAX: it is not there. */
static uint64_t find_in(struct tp_trace *trace, const char *text, uint64_t start_ns)
{
	struct tp_events *events = tp_events_open(trace);
	uint64_t found = UINT64_MAX;
	const struct tp_event *event;
	size_t length = strlen(text);

	while (events && found == UINT64_MAX && (event = tp_events_next(events)) != NULL)
		if (event->kind == TP_EVENT_MARK && event->name_length == length &&
		    memcmp(event->name, text, length) == 0)
			found = start_ns + tp_trace_ns(trace, event->time << trace->header->tick_shift);
	if (events)
		tp_events_close(events);
	return found;
}

static int find(struct tp_trace *const *traces, size_t count, const char *option, const char *text, uint64_t *ns)
{
	uint64_t start = tp_run_start(traces, count), best = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		uint64_t found = find_in(traces[i], text, traces[i]->header->start.unix_ns - start);

		best = found < best ? found : best;
	}
	if (best == UINT64_MAX) {
		fprintf(stderr, "tprof-analyze: %s: there is no mark '%s' in the trace\n", option, text);
		return TP_EXIT_USAGE;
	}
	*ns = best ? best : 1; /* 0 would be no limit */
	return TP_EXIT_OK;
}

static int find_both(struct tp_options *options, struct tp_trace *const *traces, size_t count)
{
	int status = TP_EXIT_OK;

	if (options->from_mark)
		status = find(traces, count, "--from", options->from_mark, &options->from_ns);
	if (status == TP_EXIT_OK && options->to_mark)
		status = find(traces, count, "--to", options->to_mark, &options->to_ns);
	if (status == TP_EXIT_OK && options->to_ns && options->to_ns <= options->from_ns) {
		fputs("tprof-analyze: --to must be later than --from\n", stderr);
		status = TP_EXIT_USAGE;
	}
	return status;
}

int tp_marks_find(struct tp_options *options)
{
	struct tp_trace **traces;
	size_t count = 0;
	int status = TP_EXIT_OK;

	if (!options->from_mark && !options->to_mark)
		return TP_EXIT_OK;
	traces = calloc(options->trace_count, sizeof(*traces));
	for (size_t i = 0; traces && i < options->trace_count; i++) {
		char *error = NULL;

		traces[count] = tp_trace_open(options->traces[i], &error);
		count += traces[count] != NULL;
		free(error);
	}
	if (count)
		status = find_both(options, traces, count);
	for (size_t i = 0; i < count; i++)
		tp_trace_close(traces[i]);
	free(traces);
	return status;
}
