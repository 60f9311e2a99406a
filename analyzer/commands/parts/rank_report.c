/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/rank_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "export/walk.h"
#include "model/ranks/analyze.h"
#include "commands/parts/site_report.h"
#include "report/json/rank_json.h"
#include "report/text/rank_listing.h"
#include "trace/chunks.h"

#define CASES 100u /* steps of late ranks of which it is asked why */

/* ---- a second reading of the traces ---- */

/* What a thread does: its open ops, and since when the innermost one is that. */
struct doing_thread {
	int64_t since;
	uint32_t *ops;
	size_t count, room;
};

/* Of one rank's trace. */
struct reading {
	struct tpa_doings *doings;
	uint32_t rank;
	int64_t start; /* of its process, since the run's start */
	struct doing_thread *threads;
	size_t thread_count, thread_room;
	bool counted; /* page faults were counted before */
	int64_t counted_at;
	uint64_t faults;
};

static void process(void *to, struct tpa_walk *walk)
{
	struct reading *reading = to;

	reading->start = (int64_t)walk->start_ns;
}

static struct doing_thread *thread_of(struct reading *reading, uint32_t thread)
{
	tpa_extend(&reading->threads, &reading->thread_count, &reading->thread_room, (size_t)thread + 1,
		   sizeof(*reading->threads));
	return &reading->threads[thread];
}

/* Up to now the thread did what it did. */
static void tell(struct reading *reading, struct doing_thread *thread, uint32_t number, uint64_t ns)
{
	int64_t now = (int64_t)ns - reading->start;

	if (thread->count && now > thread->since)
		tpa_doings_op(reading->doings, reading->rank, number, thread->since, now,
			      thread->ops[thread->count - 1]);
	thread->since = now;
}

static void op_begin(void *to, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct reading *reading = to;
	struct doing_thread *thread = thread_of(reading, op->thread);

	(void)walk;
	tell(reading, thread, op->thread, op->begin_ns);
	*TPA_APPEND(thread->ops, thread->count, thread->room) = op->op;
}

static void op_end(void *to, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct reading *reading = to;
	struct doing_thread *thread = thread_of(reading, op->thread);

	(void)walk;
	if (op->level >= thread->count)
		return;
	tell(reading, thread, op->thread, op->end_ns);
	/* Ops of coroutines end in any order. */
	memmove(thread->ops + op->level, thread->ops + op->level + 1,
		(--thread->count - op->level) * sizeof(*thread->ops));
}

static void sample(void *to, struct tpa_walk *walk, const struct tpa_walk_sample *taken)
{
	const struct reading *reading = to;

	(void)walk;
	tpa_doings_sample(reading->doings, reading->rank, taken->thread, (int64_t)taken->ns - reading->start,
			  (int64_t)taken->cpu_ns, taken->node);
}

static void waited(const struct reading *reading, const struct tpa_trace *trace, int64_t now,
		   const struct tpa_event *told)
{
	double took = (double)told->waited.ticks * tpa_trace_tick_ns(trace);

	tpa_doings_wait(reading->doings, reading->rank, told->thread, took < (double)now ? now - (int64_t)took : 0, now,
			(uint32_t)told->waited.op, tpa_event_node(trace, told));
}

static void count_faults(struct reading *reading, int64_t now, const struct tpa_usage *usage)
{
	uint64_t faults = usage->minor_faults + usage->major_faults;

	if (reading->counted && faults > reading->faults)
		tpa_doings_faults(reading->doings, reading->rank, reading->counted_at, now, faults - reading->faults);
	reading->counted = true;
	reading->counted_at = now;
	reading->faults = faults;
}

static void event(void *to, struct tpa_walk *walk, uint64_t ns, const struct tpa_event *told)
{
	struct reading *reading = to;
	int64_t now = (int64_t)ns - reading->start;

	if (told->kind == TPA_EVENT_USAGE && told->usage)
		count_faults(reading, now, told->usage);
	else if (told->kind == TPA_EVENT_WAITED)
		waited(reading, walk->trace, now, told);
}

/* What the readings of all ranks have in common; the doings of each rank are its own. */
struct readings {
	struct tpa_export export;
	size_t *which; /* of export.traces, by rank */
	struct tpa_doings *doings;
};

static const struct tpa_process *process_of(const struct readings *readings, size_t rank)
{
	return &readings->export.run->processes[readings->doings->ranks->list[rank].process];
}

static void read_rank(void *context, size_t rank)
{
	static const struct tpa_visitor visitor = { .only_ops = true,
						    .process = process,
						    .op_begin = op_begin,
						    .op = op_end,
						    .sample = sample,
						    .event = event };
	struct readings *readings = context;
	struct reading reading = { .doings = readings->doings, .rank = (uint32_t)rank };

	if (!tpa_doings_asks(readings->doings, (uint32_t)rank))
		return;
	tpa_walk_one(&readings->export, readings->which[rank], process_of(readings, rank)->start_ns, &visitor,
		     &reading);
	for (size_t i = 0; i < reading.thread_count; i++)
		free(reading.threads[i].ops);
	free(reading.threads);
}

static void read_again(struct tpa_session *session, struct tpa_doings *doings)
{
	const struct tpa_replay_options replay = { .to_ns = session->options->to_ns };
	struct readings readings = { .export = { .out = session->page.out,
						 .traces = session->traces,
						 .trace_count = session->trace_count,
						 .run = session->run,
						 .replay = &replay },
				     .doings = doings };
	uint64_t *bytes = tpa_zalloc(doings->ranks->count, sizeof(*bytes));

	readings.which = tpa_zalloc(doings->ranks->count, sizeof(*readings.which));
	for (size_t i = 0; i < doings->ranks->count; i++) {
		bytes[i] = tpa_chunks_bytes(tpa_trace_chunks(process_of(&readings, i)->trace));
		readings.which[i] = tpa_export_index(&readings.export, process_of(&readings, i));
	}
	tpa_workers_largest(session->options->jobs, bytes, doings->ranks->count, read_rank, &readings);
	free(bytes);
	free(readings.which);
	tpa_export_close(&readings.export);
}

/* ---- the report ---- */

static const char *op_name(void *context, size_t process, uint32_t op)
{
	const struct tpa_run *run = context;

	return tpa_process_op_name(&run->processes[process], op);
}

#define APART_MOST 10000000 /* ns */

/*
 * Each process has read the unix time and the monotonic time at its start, one after the other. The monotonic time is the host's, and is
 * never set: so the first process says for all what the unix time is. It is not so in a time namespace, where it is far off.
 */
static int64_t moved_of(const struct tpa_run *run, size_t index)
{
	const struct tprof_header *own = run->processes[index].trace->header, *first = own;
	int64_t moved;

	for (size_t i = index; i-- > 0;) {
		const struct tprof_header *other = run->processes[i].trace->header;

		if (memcmp(other->boot_id, own->boot_id, sizeof(own->boot_id)) == 0)
			first = other;
	}
	moved = (int64_t)((own->start.mono_ns - first->start.mono_ns) - (own->start.unix_ns - first->start.unix_ns));
	return moved > -APART_MOST && moved < APART_MOST ? moved : 0;
}

struct tpa_ranks *tpa_run_ranks(struct tpa_run *run)
{
	struct tpa_rank_input *inputs = tpa_zalloc(run->process_count, sizeof(*inputs));
	struct tpa_ranks *ranks;

	for (size_t i = 0; i < run->process_count; i++)
		inputs[i] = (struct tpa_rank_input){ &run->processes[i].ranks, i,
						     run->processes[i].trace->header->start.unix_ns, moved_of(run, i) };
	ranks = tpa_ranks_analyze(inputs, run->process_count, op_name, run);
	free(inputs);
	if (ranks && ranks->count < 2) {
		tpa_ranks_free(ranks);
		return NULL;
	}
	return ranks;
}

struct tpa_rank_report *tpa_rank_report_new(struct tpa_session *session)
{
	struct tpa_ranks *ranks = tpa_run_ranks(session->run);
	struct tpa_rank_report *report;

	if (!ranks)
		return NULL;
	report = tpa_zalloc(1, sizeof(*report));
	report->ranks = ranks;
	report->doings = tpa_doings_new(ranks, CASES);
	read_again(session, report->doings);
	tpa_session_open_symbols(session);
	report->reasons = tpa_rank_reasons_find(session->run, session->symbols, report->doings);
	report->view = (struct tpa_rank_view){ .run = session->run,
					       .ranks = ranks,
					       .reasons = report->reasons,
					       .steps = tpa_rank_steps_make(session->run, ranks) };
	return report;
}

void tpa_rank_report_free(struct tpa_rank_report *report)
{
	if (!report)
		return;
	tpa_rank_steps_free(&report->view.steps);
	tpa_rank_reasons_free(report->reasons);
	tpa_doings_free(report->doings);
	tpa_ranks_free(report->ranks);
	free(report);
}

void tpa_rank_answer_print(struct tpa_session *session)
{
	struct tpa_rank_report *report = tpa_rank_report_new(session);
	const struct tpa_page *page = &session->page;
	uint32_t late;

	if (!report)
		return;
	late = tpa_ranks_late(report->ranks);
	session->late = late == TPA_RANK_NONE ? NULL : &session->run->processes[report->ranks->list[late].process];
	tpa_ranks_answer_print(page, &report->view);
	fprintf(page->out, "tprof-analyze ranks %s   says more of the %zu ranks\n\n", tpa_trace_names(session).text,
		report->ranks->count);
	tpa_rank_report_free(report);
}

void tpa_rank_brief_print(struct tpa_session *session)
{
	struct tpa_rank_report *report = tpa_rank_report_new(session);

	if (!report)
		return;
	fputs("ranks: ", session->page.out);
	tpa_ranks_answer_print(&session->page, &report->view);
	tpa_rank_report_free(report);
}

void tpa_rank_answer_json(struct tpa_session *session, struct tpa_json_writer *writer)
{
	struct tpa_rank_report *report = tpa_rank_report_new(session);

	if (report)
		tpa_json_put(writer, "ranks", tpa_ranks_json(&report->view, tpa_top(session->options, 0)));
	tpa_rank_report_free(report);
}
