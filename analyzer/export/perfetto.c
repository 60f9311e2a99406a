/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace: a track for the ops of each thread, one for steps and one for marks; counters of live bytes and RSS; CPU samples;
 * heap profiles; and flows from a process to those that it started. Written packet by packet while the trace is read.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/formats.h"
#include "export/nest.h"
#include "export/perfetto_heap.h"
#include "export/rank_flows.h"
#include "model/replay/start_times.h"
#include "report/rows/process_facts.h"

/* Tracks of a process, beside those of its threads, which are numbered from TRACK_THREADS on. */
enum track { TRACK_PROCESS, TRACK_STEPS, TRACK_MARKS, TRACK_LIVE, TRACK_RSS, TRACK_THREADS = 16 };

struct perfetto {
	struct tpa_perfetto out;
	struct tpa_export *export;
	struct tpa_nest open;
	struct tpa_walk *walk;
	uint32_t *tids; /* by thread of the process */
	size_t tid_count, tid_room;
	struct tpa_stack stack;
	struct tpa_rank_flows *flows;
};

static uint64_t uuid_of(size_t which, uint32_t track)
{
	return (uint64_t)(which + 1) << 32 | track;
}

/* ---- tracks ---- */

static void write_track(struct perfetto *to, Perfetto__TrackDescriptor *track, size_t which, uint32_t number)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	TPA_SET(*track, uuid, uuid_of(which, number));
	if (number != TRACK_PROCESS && !track->thread)
		TPA_SET(*track, parent_uuid, uuid_of(which, TRACK_PROCESS));
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = track;
	tpa_perfetto_write(&to->out, &packet);
}

static void write_process_track(struct perfetto *to, size_t which, const struct tpa_trace *trace)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char **arguments = tpa_zalloc(trace->arg_count + 1, sizeof(*arguments));

	TPA_SET(process, pid, (int32_t)trace->header->pid);
	process.process_name = tpa_export_text(tpa_program_name(trace), SIZE_MAX);
	for (size_t i = 0; i < trace->arg_count; i++)
		arguments[i] = tpa_export_text(trace->args[i], SIZE_MAX);
	process.n_cmdline = trace->arg_count;
	process.cmdline = arguments;
	track.process = &process;
	write_track(to, &track, which, TRACK_PROCESS);
	for (size_t i = 0; i < trace->arg_count; i++)
		free(arguments[i]);
	free(arguments);
	free(process.process_name);
}

static void write_named_track(struct perfetto *to, size_t which, enum track number, const char *name, bool counter)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor bytes = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	char copy[32];

	snprintf(copy, sizeof(copy), "%s", name);
	track.name = copy;
	TPA_SET(bytes, unit, PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES);
	track.counter = counter ? &bytes : NULL;
	write_track(to, &track, which, number);
}

static void process_begin(void *context, struct tpa_walk *walk)
{
	struct perfetto *to = context;

	to->walk = walk;
	write_named_track(to, walk->which, TRACK_STEPS, "steps", false);
	write_named_track(to, walk->which, TRACK_MARKS, "marks", false);
	write_named_track(to, walk->which, TRACK_LIVE, "live bytes", true);
	write_named_track(to, walk->which, TRACK_RSS, "RSS", true);
}

static void thread(void *context, struct tpa_walk *walk, uint32_t number, uint32_t tid, const char *name)
{
	struct perfetto *to = context;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;

	tpa_extend(&to->tids, &to->tid_count, &to->tid_room, (size_t)number + 1, sizeof(*to->tids));
	to->tids[number] = tid;
	TPA_SET(thread, pid, (int32_t)walk->trace->header->pid);
	TPA_SET(thread, tid, (int32_t)tid);
	thread.thread_name = name ? tpa_export_text(name, SIZE_MAX) : NULL;
	track.thread = &thread;
	write_track(to, &track, walk->which, TRACK_THREADS + number);
	free(thread.thread_name);
}

/* ---- events ---- */

static Perfetto__TrackEvent event_of(const struct perfetto *to, uint32_t track, Perfetto__TrackEvent__Type type)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	TPA_SET(event, type, type);
	TPA_SET(event, track_uuid, uuid_of(to->walk->which, track));
	return event;
}

static void write_event(struct perfetto *to, Perfetto__TrackEvent *event, uint64_t ns)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	TPA_SET(packet, timestamp, ns);
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = event;
	tpa_perfetto_write(&to->out, &packet);
}

#define DETAILS_MOST 6

struct details {
	Perfetto__DebugAnnotation list[DETAILS_MOST], *pointers[DETAILS_MOST];
	size_t count;
	char *shape;
};

static Perfetto__DebugAnnotation *add_detail(struct details *details, const char *name)
{
	Perfetto__DebugAnnotation *detail = &details->list[details->count];

	*detail = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	detail->name = (char *)name;
	details->pointers[details->count++] = detail;
	return detail;
}

static void add_number(struct details *details, const char *name, uint64_t number)
{
	Perfetto__DebugAnnotation *detail = number ? add_detail(details, name) : NULL;

	if (detail)
		TPA_SET(*detail, uint_value, number);
}

static void add_true(struct details *details, const char *name, bool value)
{
	Perfetto__DebugAnnotation *detail = value ? add_detail(details, name) : NULL;

	if (detail)
		TPA_SET(*detail, bool_value, 1);
}

static void add_shape(struct details *details, const char *shape)
{
	if (!shape)
		return;
	details->shape = tpa_export_text(shape, SIZE_MAX);
	add_detail(details, "shape")->string_value = details->shape;
}

static void write_detailed(struct perfetto *to, Perfetto__TrackEvent *event, uint64_t ns, struct details *details)
{
	event->n_debug_annotations = details->count;
	event->debug_annotations = details->pointers;
	write_event(to, event, ns);
	free(details->shape);
}

static void put_op(void *context, enum tpa_nest_step step, uint32_t item, uint64_t ns, const struct tpa_walk_op *op)
{
	struct perfetto *to = context;
	bool begins = step == TPA_NEST_BEGIN || step == TPA_NEST_RESUME;
	Perfetto__TrackEvent event = event_of(to, TRACK_THREADS + op->thread,
					      begins ? PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
						     : PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	struct details details = { .count = 0 };
	uint64_t category;

	if (begins) {
		TPA_SET(event, name_iid,
			tpa_perfetto_text(&to->out, TPA_PERFETTO_NAMES, tpa_walk_op_name(to->walk, item)));
		category = tpa_perfetto_text(&to->out, TPA_PERFETTO_CATEGORIES, tpa_walk_op_category(to->walk, item));
		event.n_category_iids = 1;
		event.category_iids = &category;
	}
	if (step == TPA_NEST_END) {
		add_shape(&details, op->shape);
		add_number(&details, "flop", op->flop);
		add_number(&details, "bytes", op->bytes);
		add_true(&details, "unwound", op->unwound);
		add_true(&details, "still open", op->open);
	}
	write_detailed(to, &event, ns, &details);
}

static void op_begin(void *context, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct perfetto *to = context;

	(void)walk;
	tpa_nest_begin(&to->open, op, op->op);
}

static void op_end(void *context, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct perfetto *to = context;

	(void)walk;
	tpa_nest_end(&to->open, op);
}

static void folded(void *context, struct tpa_walk *walk, const struct tpa_walk_folded *calls)
{
	struct perfetto *to = context;
	Perfetto__TrackEvent event =
		event_of(to, TRACK_THREADS + calls->thread, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
	struct details details = { .count = 0 };
	uint64_t category = tpa_perfetto_text(&to->out, TPA_PERFETTO_CATEGORIES, "folded");

	TPA_SET(event, name_iid, tpa_perfetto_text(&to->out, TPA_PERFETTO_NAMES, tpa_walk_op_name(walk, calls->op)));
	event.n_category_iids = 1;
	event.category_iids = &category;
	add_number(&details, "calls", calls->calls);
	add_number(&details, "timed", calls->timed);
	add_number(&details, "timed_ns", calls->total_ns);
	add_number(&details, "min_ns", calls->timed ? calls->min_ns : 0);
	add_number(&details, "max_ns", calls->timed ? calls->max_ns : 0);
	add_shape(&details, calls->shape);
	write_detailed(to, &event, calls->ns, &details);
}

static void step(void *context, struct tpa_walk *walk, const struct tpa_walk_step *ended)
{
	struct perfetto *to = context;
	Perfetto__TrackEvent begin = event_of(to, TRACK_STEPS, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	Perfetto__TrackEvent end = event_of(to, TRACK_STEPS, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	struct details details = { .count = 0 };
	char name[40];

	(void)walk;
	snprintf(name, sizeof(name), "step %" PRIu64, ended->number);
	begin.name = name;
	write_event(to, &begin, ended->begin_ns);
	add_number(&details, "items", ended->items);
	write_detailed(to, &end, ended->end_ns, &details);
}

static void mark(void *context, struct tpa_walk *walk, uint64_t ns, uint32_t number, const char *text, size_t length)
{
	struct perfetto *to = context;
	Perfetto__TrackEvent event = event_of(to, TRACK_MARKS, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);

	(void)walk;
	(void)number;
	event.name = tpa_export_text(text, length);
	write_event(to, &event, ns);
	free(event.name);
}

static void write_counter(struct perfetto *to, enum track track, uint64_t ns, uint64_t bytes)
{
	Perfetto__TrackEvent event = event_of(to, track, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER);

	TPA_SET(event, counter_value, (int64_t)bytes);
	write_event(to, &event, ns);
}

static void live(void *context, struct tpa_walk *walk, uint64_t ns, uint64_t bytes)
{
	(void)walk;
	write_counter(context, TRACK_LIVE, ns, bytes);
}

static void rss(void *context, struct tpa_walk *walk, uint64_t ns, uint64_t bytes)
{
	(void)walk;
	write_counter(context, TRACK_RSS, ns, bytes);
}

static void sample(void *context, struct tpa_walk *walk, const struct tpa_walk_sample *taken)
{
	struct perfetto *to = context;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__PerfSample told = PERFETTO__PERF_SAMPLE__INIT;

	tpa_stack_read(&to->stack, walk->trace, tpa_export_symbols(to->export, walk->which), taken->node);
	if (to->export->filter && !tpa_stack_matches(&to->stack, to->export->filter))
		return;
	TPA_SET(told, pid, walk->trace->header->pid);
	TPA_SET(told, tid, to->tids[taken->thread]);
	TPA_SET(told, callstack_iid, tpa_perfetto_stack(&to->out, walk->which, &to->stack, 0));
	TPA_SET(packet, timestamp, taken->ns);
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_PERF_SAMPLE;
	packet.perf_sample = &told;
	tpa_perfetto_write(&to->out, &packet);
}

/* ---- flows ---- */

/* An instant within the call: slices are written before it is known who waited. */
static void put_rank_flow(void *context, const struct tpa_rank_flow *flow)
{
	struct perfetto *to = context;
	Perfetto__TrackEvent event =
		event_of(to, TRACK_THREADS + flow->thread, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
	struct details details = { .count = 0 };
	uint64_t number = flow->number;
	char name[100];

	snprintf(name, sizeof(name), flow->arrives ? "waited for rank %" PRIu32 : "rank %" PRIu32 " waited",
		 flow->other);
	event.name = name;
	event.n_flow_ids = !flow->arrives;
	event.n_terminating_flow_ids = flow->arrives;
	event.flow_ids = event.terminating_flow_ids = &number;
	add_detail(&details, "pattern")->string_value = (char *)flow->pattern;
	add_number(&details, "wait_ns", flow->wait_ns);
	write_detailed(to, &event, flow->ns, &details);
}

static void process_end(void *context, struct tpa_walk *walk, uint64_t ns)
{
	struct perfetto *to = context;

	(void)ns;
	tpa_rank_flows_tell(to->flows, walk, put_rank_flow, to);
	tpa_nest_clear(&to->open);
	to->tid_count = 0;
}

static void write_end_of_flow(struct perfetto *to, size_t which, const char *name, uint64_t ns, uint64_t flow,
			      bool ends)
{
	struct tpa_walk at = { .which = which };
	Perfetto__TrackEvent event;

	to->walk = &at;
	event = event_of(to, TRACK_PROCESS, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
	event.name = tpa_export_text(name, SIZE_MAX);
	event.n_flow_ids = !ends;
	event.n_terminating_flow_ids = ends;
	event.flow_ids = event.terminating_flow_ids = &flow;
	write_event(to, &event, ns);
	free(event.name);
	to->walk = NULL;
}

/* A flow from the process that started this one. `ns`: when. */
static void write_flow(struct perfetto *to, size_t which, size_t parent, uint64_t ns)
{
	const struct tpa_export *export = to->export;
	char name[300], text[330];

	snprintf(text, sizeof(text), "starts %s", tpa_export_process_name(export->traces[which], name, sizeof(name)));
	write_end_of_flow(to, parent, text, ns, which + 1, false);
	snprintf(text, sizeof(text), "started by %s",
		 tpa_export_process_name(export->traces[parent], name, sizeof(name)));
	write_end_of_flow(to, which, text, ns, which + 1, true);
}

static void write_flows(struct perfetto *to)
{
	size_t count = to->export->trace_count;
	struct tpa_start *starts = tpa_starts_find(to->export->traces, count);
	uint64_t first = tpa_starts_first(starts, count);

	for (size_t i = 0; i < count; i++)
		if (starts[i].parent < count)
			write_flow(to, i, starts[i].parent, starts[i].ns - first);
	free(starts);
}

/* ---- the file ---- */

enum { CLOCK_OF_REALTIME = 1, CLOCK_OF_MONOTONIC = 3, CLOCK_OF_MONOTONIC_COARSE = 4, CLOCK_OF_BOOTTIME = 6 };

/* One time of all clocks that a reader may ask for. Times of packets count as BOOTTIME. */
static void write_clocks(struct perfetto *to)
{
	static const uint32_t numbers[] = { CLOCK_OF_REALTIME, CLOCK_OF_MONOTONIC, CLOCK_OF_MONOTONIC_COARSE,
					    CLOCK_OF_BOOTTIME };
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[4], *list[4];

	for (int i = 0; i < 4; i++) {
		clocks[i] = (Perfetto__ClockSnapshot__Clock)PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
		TPA_SET(clocks[i], clock_id, numbers[i]);
		TPA_SET(clocks[i], timestamp,
			numbers[i] == CLOCK_OF_REALTIME ? to->export->run->start_unix_ns : to->out.base_ns);
		list[i] = &clocks[i];
	}
	snapshot.n_clocks = 4;
	snapshot.clocks = list;
	TPA_SET(packet, timestamp, 0);
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	packet.clock_snapshot = &snapshot;
	tpa_perfetto_write(&to->out, &packet);
}

bool tpa_export_perfetto(struct tpa_export *export)
{
	static const struct tpa_visitor visitor = { .process = process_begin,
						    .process_end = process_end,
						    .thread = thread,
						    .op_begin = op_begin,
						    .op = op_end,
						    .folded = folded,
						    .step = step,
						    .mark = mark,
						    .live = live,
						    .rss = rss,
						    .sample = sample };
	struct perfetto to = { .export = export, .flows = tpa_rank_flows_new(export) };
	bool good;

	to.open = (struct tpa_nest){ .put = put_op, .to = &to };
	tpa_perfetto_begin(&to.out, export->out, export->run->processes[0].trace->header->start.mono_ns);
	write_clocks(&to);
	for (size_t i = 0; i < export->trace_count; i++)
		write_process_track(&to, i, export->traces[i]);
	write_flows(&to);
	good = tpa_walk(export, &visitor, &to);
	tpa_perfetto_heaps(&to.out, export);
	tpa_perfetto_end(&to.out);
	tpa_nest_free(&to.open);
	tpa_stack_free(&to.stack);
	tpa_rank_flows_free(to.flows);
	free(to.tids);
	return good;
}
