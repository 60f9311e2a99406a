/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/html_views.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/workers.h"
#include "commands/input/runs.h"
#include "model/replay/history.h"
#include "report/html/page_data.h"
#include "report/json/diff_json.h"
#include "trace/chunks.h"

/* Of a page with few processes; with more of them, each has less, so that the page stays small. */
#define FEW 3
#define LOOKS 401 /* 400 intervals */
#define CALLS 20000
#define STACKS 20000
#define NODES 4000
#define CHANGES 150000
#define AHEAD 4 /* histories for each thread that are made together: some take longer than others */

/* The options of the replay that the history is made in: growth is known already, and is not looked for. */
static struct tpa_replay_options history_options(const struct tpa_options *options)
{
	return (struct tpa_replay_options){ .thread = options->thread,
					    .from_ns = options->from_ns,
					    .to_ns = options->to_ns };
}

static struct tpa_trace *trace_of(const struct tpa_session *session, const struct tpa_process *process)
{
	size_t i = 0;

	while (session->traces[i] != process->trace)
		i++;
	return session->traces[i];
}

/* A process's part of what the page may have of something, and not less than `least`. */
static size_t part_of(size_t most, size_t processes, size_t least)
{
	size_t part = processes > FEW ? most * FEW / processes : most;

	return part > least ? part : least;
}

/* ---- histories ---- */

void tpa_html_histories_begin(struct tpa_html_histories *histories, struct tpa_session *session)
{
	*histories = (struct tpa_html_histories){ .session = session };
	histories->list = tpa_zalloc(session->run->process_count + 1, sizeof(struct tpa_history *));
}

void tpa_html_histories_end(struct tpa_html_histories *histories)
{
	for (size_t i = 0; i < histories->made; i++)
		tpa_history_free(histories->list[i]);
	free(histories->list);
}

/* `which`: how many processes after those whose histories are made. */
static void make_history(void *context, size_t which)
{
	const struct tpa_html_histories *histories = context;
	const struct tpa_session *session = histories->session;
	const struct tpa_replay_options options = history_options(session->options);
	const struct tpa_process *process = &session->run->processes[histories->made + which];
	size_t count = session->run->process_count;
	const struct tpa_history_limits limits = { part_of(LOOKS, count, 41), part_of(CALLS, count, 100) };

	histories->list[histories->made + which] =
		tpa_history_make(trace_of(session, process), process, &options, &limits);
}

static void make_next(struct tpa_html_histories *histories)
{
	const struct tpa_run *run = histories->session->run;
	size_t threads = histories->session->options->jobs ?: tpa_processors();
	size_t left = run->process_count - histories->made, count = AHEAD * threads < left ? AHEAD * threads : left;
	uint64_t *bytes = tpa_zalloc(count, sizeof(*bytes));

	for (size_t i = 0; i < count; i++)
		bytes[i] = tpa_chunks_bytes(tpa_trace_chunks(run->processes[histories->made + i].trace));
	tpa_workers_largest(threads, bytes, count, make_history, histories);
	histories->made += count;
	free(bytes);
}

void tpa_html_views_data(struct tpa_html_histories *histories, size_t index, const char *class, const json_t *report,
			 FILE *out)
{
	struct tpa_session *session = histories->session;
	size_t count = session->run->process_count;
	const struct tpa_page_limits shown = { session->filter, part_of(STACKS, count, 300), part_of(NODES, count, 50),
					       part_of(CHANGES, count, 1000) };
	struct tpa_page_rows *rows;

	while (index >= histories->made)
		make_next(histories);
	rows = tpa_page_rows_make(&session->run->processes[index], histories->list[index],
				  tpa_session_symbols(session, index), &shown);
	tpa_page_data_write(rows, index, class, report, out);
	tpa_page_rows_free(rows);
	tpa_history_free(histories->list[index]);
	histories->list[index] = NULL;
}

/* ---- the baseline ---- */

struct baseline {
	FILE *out;
	struct tpa_diff diff;
	size_t runs;
};

static json_t *report_of(const struct tpa_session *session, const struct tpa_process *process)
{
	return json_pack("{s:o, s:{s:o, s:o}}", "trace", tpa_json_string(session->options->traces[0]), "heap",
			 "peak_bytes", tpa_json_number(process->heap.peak_bytes), "end_bytes",
			 tpa_json_number(process->heap.end_bytes));
}

/* The page has the data of the first run; the differences are tested with all. */
static void take(struct tpa_session *session, void *context)
{
	struct baseline *baseline = context;
	struct tpa_html_histories histories;

	tpa_session_open_symbols(session);
	tpa_html_histories_begin(&histories, session);
	for (size_t i = 0; !baseline->runs && i < session->run->process_count; i++) {
		json_t *report = report_of(session, &session->run->processes[i]);

		tpa_html_views_data(&histories, i, "base", report, baseline->out);
		json_decref(report);
	}
	tpa_html_histories_end(&histories);
	baseline->runs++;
	tpa_diff_add(&baseline->diff, 0, session->run, session->symbols);
}

static json_t *differences(struct baseline *baseline, struct tpa_session *session)
{
	const struct tpa_diff_choice choice = { session->options->top, true };

	tpa_diff_add(&baseline->diff, 1, session->run, session->symbols);
	tpa_diff_test(&baseline->diff);
	return tpa_diff_json(&baseline->diff, choice);
}

int tpa_html_baseline_read(struct tpa_session *session, struct tpa_html_baseline *read)
{
	const struct tpa_options *options = session->options;
	struct baseline baseline = { .out = NULL };
	size_t size = 0;
	int status;

	*read = (struct tpa_html_baseline){ NULL, NULL };
	if (!options->baseline_count)
		return TPA_EXIT_OK;
	baseline.out = open_memstream(&read->data, &size);
	tpa_need(baseline.out != NULL);
	tpa_diff_init(&baseline.diff, TPA_BY_STACK, session->filter);
	status = tpa_runs_each(options, options->baselines, options->baseline_count, take, &baseline);
	if (status == TPA_EXIT_OK)
		read->differences = differences(&baseline, session);
	tpa_diff_free(&baseline.diff);
	fclose(baseline.out);
	return status;
}

void tpa_html_baseline_free(struct tpa_html_baseline *read)
{
	free(read->data);
	json_decref(read->differences);
}
