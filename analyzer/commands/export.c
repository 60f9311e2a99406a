/* SPDX-License-Identifier: Apache-2.0 */
/* export: stacks, ops over time, samples and events in the formats of other tools. */
#include "commands/line/export_format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/line/op_names.h"
#include "commands/parts/rank_report.h"
#include "commands/input/session.h"
#include "commands/parts/tree_report.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/tables.h"
#include "model/replay/start_times.h"
#include "report/export/folded.h"

static void write_folded(const struct tpa_tree *tree, const struct tpa_session *session, const char *title)
{
	(void)title;
	tpa_folded_write(tree, session->page.out);
}

static int run_folded(const struct tpa_options *options)
{
	return tpa_tree_report(options, write_folded);
}

const struct tpa_export_format tpa_export_formats[] = {
	{ .name = "folded",
	  .help = "stacks and bytes (cpu: ns), a line each, separated by semicolons",
	  .run = run_folded },
	{ .name = "chrome",
	  .help = "ops, steps and memory over time: Perfetto, chrome://tracing",
	  .write = tpa_export_chrome,
	  .needs = TPA_EXPORT_TRACES,
	  .ranks = true },
	{ .name = "pprof",
	  .help = "peak, allocated, unfreed, growth and CPU time by stack, with labels: go tool pprof",
	  .write = tpa_export_pprof,
	  .needs = TPA_EXPORT_RUN,
	  .binary = true },
	{ .name = "speedscope",
	  .help = "memory, CPU time and ops by thread, for speedscope.app",
	  .write = tpa_export_speedscope,
	  .needs = TPA_EXPORT_RUN },
	{ .name = "perfetto",
	  .help = "ops, steps, marks, memory and CPU samples over time, heap profiles: ui.perfetto.dev",
	  .write = tpa_export_perfetto,
	  .needs = TPA_EXPORT_RUN,
	  .ranks = true,
	  .binary = true },
	{ .name = "firefox",
	  .help = "CPU samples, ops, memory track and allocations: profiler.firefox.com",
	  .write = tpa_export_firefox,
	  .needs = TPA_EXPORT_RUN },
	{ .name = "callgrind",
	  .help = "CPU time and memory by line, with calls: kcachegrind, callgrind_annotate",
	  .write = tpa_export_callgrind,
	  .needs = TPA_EXPORT_RUN },
	{ .name = "massif",
	  .help = "live bytes over time, and stacks of the peak: ms_print, massif-visualizer",
	  .write = tpa_export_massif,
	  .needs = TPA_EXPORT_RUN },
	{ .name = "dhat",
	  .help = "memory by stack with the lives of its blocks: dh_view.html",
	  .write = tpa_export_dhat,
	  .needs = TPA_EXPORT_RUN },
	{ .name = "csv",
	  .help = "a table (--table), a row a line",
	  .write = tpa_export_csv,
	  .needs = TPA_EXPORT_TABLE },
	{ .name = "ndjson",
	  .help = "the same, a JSON object a line",
	  .write = tpa_export_ndjson,
	  .needs = TPA_EXPORT_TABLE },
	{ .name = "sqlite",
	  .help = "a database of all tables: tprof-sql(5)",
	  .write = tpa_export_sqlite,
	  .needs = TPA_EXPORT_RUN,
	  .ranks = true,
	  .own_times = true,
	  .binary = true },
	{ .name = "openmetrics",
	  .help = "totals, peak, what leaks, ops: Prometheus and its like",
	  .write = tpa_export_openmetrics,
	  .needs = TPA_EXPORT_RUN },
	{ .name = NULL },
};

static const struct tpa_table *table_of(const struct tpa_options *options)
{
	return options->table ? options->table : &tpa_tables[0];
}

static bool needs_run(const struct tpa_options *options)
{
	enum tpa_export_needs needs = options->format->needs;

	return needs == TPA_EXPORT_RUN || (needs == TPA_EXPORT_TABLE && !table_of(options)->streamed);
}

static struct tpa_export export_of(struct tpa_session *session, const struct tpa_replay_options *replay)
{
	const struct tpa_options *options = session->options;

	return (struct tpa_export){
		.out = session->page.out,
		.path = session->output.draft,
		.traces = session->traces,
		.trace_count = session->trace_count,
		.run = session->run,
		.replay = replay,
		.what = options->what,
		.limit = options->limit,
		.table = table_of(options),
		.filter = session->filter,
		.suppressions = options->suppression_count ? tpa_session_suppressions(session) : NULL,
		.names = { .debug_dir = options->debug_dir,
			   .language = options->language,
			   .interpreter = options->interpreter },
	};
}

/* ---- ranks ---- */

/* By how much the clock of a process's host was moved. */
static int64_t moved_of(const struct tpa_export *export, const struct tpa_trace *trace)
{
	const struct tpa_ranks *ranks = export->ranks;

	for (size_t i = 0; i < ranks->count; i++)
		if (export->run->processes[ranks->list[i].process].trace == trace)
			return (int64_t)ranks->hosts[ranks->list[i].host].offset_ns;
	return 0;
}

/* Moves the processes so that hosts' clocks agree, and that the first one begins where the run does. */
static int64_t *move_hosts(const struct tpa_export *export)
{
	struct tpa_start *starts = tpa_starts_find(export->traces, export->trace_count);
	uint64_t start = tpa_starts_first(starts, export->trace_count);
	int64_t *list = tpa_zalloc(export->trace_count, sizeof(*list)), first = INT64_MAX;

	for (size_t i = 0; i < export->trace_count; i++) {
		int64_t since = (int64_t)(starts[i].ns - start);

		list[i] = moved_of(export, export->traces[i]);
		first = since + list[i] < first ? since + list[i] : first;
	}
	for (size_t i = 0; i < export->trace_count; i++)
		list[i] -= first;
	free(starts);
	return list;
}

static bool write_with_ranks(struct tpa_export *export, struct tpa_run *run, const struct tpa_export_format *format)
{
	struct tpa_ranks *ranks = run && format->ranks ? tpa_run_ranks(run) : NULL;
	int64_t *moved;
	bool good;

	export->ranks = ranks;
	export->moved_ns = moved = ranks && ranks->host_count > 1 && !format->own_times ? move_hosts(export) : NULL;
	good = format->write(export);
	free(moved);
	tpa_ranks_free(ranks);
	return good;
}

static bool has_ranks(const struct tpa_session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->trace_count; i++)
		count += session->traces[i]->group_count > 1;
	return count > 1;
}

/* For what a format needs to know before it reads the traces itself. */
static int open_session(struct tpa_session *session, const struct tpa_options *options)
{
	int status;

	if (needs_run(options))
		return tpa_session_start(session, options, TPA_GROUP_STACK);
	status = tpa_session_open(session, options);
	if (status == TPA_EXIT_OK && options->format->ranks && has_ranks(session))
		status = tpa_session_replay(session, TPA_GROUP_NONE);
	return status;
}

/* Opens what the format needs, and calls it. */
static int write_format(const struct tpa_options *options)
{
	struct tpa_session session;
	struct tpa_replay_options replay;
	struct tpa_export export;
	bool run, good;
	int status = open_session(&session, options);

	if (status != TPA_EXIT_OK)
		return status;
	run = session.run;
	for (size_t i = 0; !run && i < session.trace_count; i++)
		tpa_op_names(session.traces[i], options->debug_dir);
	replay = (struct tpa_replay_options){
		.thread = options->thread, .pid = options->process, .from_ns = options->from_ns, .to_ns = options->to_ns
	};
	export = export_of(&session, &replay);
	good = write_with_ranks(&export, session.run, options->format);
	if (!good && export.error)
		fprintf(stderr, "tprof-analyze: export --format %s: %s\n", options->format->name, export.error);
	status = good || !export.error ? TPA_EXIT_OK : TPA_EXIT_USAGE;
	free(export.error);
	tpa_export_close(&export);
	tpa_suppressions_free(export.suppressions);
	if (!run)
		tpa_session_damage_print(&session);
	return tpa_session_close(&session, status);
}

int tpa_cmd_export(const struct tpa_options *options)
{
	const struct tpa_export_format *format = options->format;

	if (format->run)
		return format->run(options);
	if (format->binary && !options->output && isatty(STDOUT_FILENO)) {
		fprintf(stderr, "tprof-analyze: export --format %s is not text for a terminal: -o FILE says where\n",
			format->name);
		return TPA_EXIT_USAGE;
	}
	return write_format(options);
}
