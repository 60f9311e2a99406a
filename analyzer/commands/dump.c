/* SPDX-License-Identifier: Apache-2.0 */
/* dump: prints every event. Its output grows with the trace, so it writes while it reads. */
#include "commands/dump.h"

#include <stdlib.h>

#include "base/memory.h"
#include "report/text/process_listing.h"
#include "trace/checkpoint.h"

static bool is_wanted(const struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns)
{
	const struct tpa_options *options = dump->session->options;

	return (!options->thread || event->thread == options->thread) && time_ns >= options->from_ns &&
	       (!options->to_ns || time_ns <= options->to_ns);
}

/* Reading a trace adds nodes. */
static void extend_nodes(struct tpa_dump *dump)
{
	size_t count = dump->trace->node_count, known = dump->node_count;

	tpa_extend(&dump->names, &known, &dump->name_room, count, sizeof(*dump->names));
	tpa_extend(&dump->used, &dump->node_count, &dump->used_room, count, sizeof(*dump->used));
}

static void show(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns)
{
	uint32_t node = tpa_event_has_node(event->kind) ? tpa_event_node(dump->trace, event) : TPROF_NODE_NONE;

	extend_nodes(dump);
	if (tpa_event_has_node(event->kind))
		dump->used[node] = true;
	if (dump->session->options->json)
		tpa_dump_event_json(dump, event, time_ns);
	else
		tpa_dump_event(dump, event, time_ns);
	dump->printed++;
}

/* Of a ring, only some of the events before that time are in the file. */
static uint64_t first_time(const struct tpa_trace *trace)
{
	const struct tprof_checkpoint *checkpoint = tpa_trace_checkpoint(trace);

	return checkpoint ? checkpoint->ticks >> trace->header->tick_shift : 0;
}

static void read_events(struct tpa_dump *dump, uint64_t limit)
{
	struct tpa_events *events = tpa_events_open(dump->trace);
	unsigned int shift = dump->trace->header->tick_shift;
	uint64_t first = first_time(dump->trace);
	const struct tpa_event *event;

	while ((!limit || dump->printed < limit) && (event = tpa_events_next(events))) {
		uint64_t time_ns = dump->process->start_ns + tpa_trace_ns(dump->trace, event->time << shift);

		if (event->time >= first && is_wanted(dump, event, time_ns))
			show(dump, event, time_ns);
	}
	extend_nodes(dump);
	tpa_events_close(events);
}

static struct tpa_trace *find_trace(const struct tpa_session *session, const struct tpa_process *process)
{
	size_t i = 0;

	while (session->traces[i] != process->trace)
		i++;
	return session->traces[i];
}

static void begin_process(struct tpa_dump *dump, size_t index)
{
	dump->process = &dump->session->run->processes[index];
	dump->trace = find_trace(dump->session, dump->process);
	dump->symbols = tpa_session_symbols(dump->session, index);
	dump->names = NULL;
	dump->used = NULL;
	dump->node_count = dump->name_room = dump->used_room = 0;
}

static void end_process(struct tpa_dump *dump)
{
	for (size_t i = 0; i < dump->node_count; i++)
		free(dump->names[i]);
	free(dump->names);
}

static void dump_text(struct tpa_dump *dump)
{
	const struct tpa_page *page = &dump->session->page;
	uint64_t limit = dump->session->options->top_set ? dump->session->options->top : 0;

	for (size_t i = 0; i < dump->session->run->process_count; i++) {
		begin_process(dump, i);
		tpa_process_print(dump->process, page);
		tpa_print(page, TPA_STYLE_DIM, "  milliseconds since the start of the run%s\n",
			  first_time(dump->trace) ? "; earlier events are no longer in the ring" : "");
		read_events(dump, limit);
		end_process(dump);
		free(dump->used);
	}
}

static void dump_json(struct tpa_dump *dump)
{
	uint64_t limit = dump->session->options->top_set ? dump->session->options->top : 0;
	size_t count = dump->session->run->process_count;
	bool **used = tpa_zalloc(count, sizeof(*used));
	FILE *out = dump->session->page.out;

	fputs("{\"schema\": \"tprof/1\",\n  \"events\": [", out);
	for (size_t i = 0; i < count; i++) {
		begin_process(dump, i);
		read_events(dump, limit);
		used[i] = dump->used; /* grows as events are read */
		end_process(dump);
	}
	fputs("\n  ],\n  \"stacks\": [", out);
	for (size_t i = 0; i < count; i++) {
		dump->process = &dump->session->run->processes[i];
		dump->trace = find_trace(dump->session, dump->process);
		dump->symbols = tpa_session_symbols(dump->session, i);
		dump->used = used[i];
		tpa_dump_stacks_json(dump, i == 0);
		free(used[i]);
	}
	fputs("\n  ]}\n", out);
	free(used);
}

int tpa_cmd_dump(const struct tpa_options *options)
{
	struct tpa_session session;
	struct tpa_dump dump = { .session = &session };
	int status = tpa_session_start(&session, options, TPA_GROUP_STACK);

	if (status != TPA_EXIT_OK)
		return status;
	if (options->json)
		dump_json(&dump);
	else
		dump_text(&dump);
	return tpa_session_close(&session, TPA_EXIT_OK);
}
