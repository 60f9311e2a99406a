/* SPDX-License-Identifier: Apache-2.0 */
/* export: stacks, ops over time, samples and events in the formats of other tools. */
#include "commands/export_format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/op_names.h"
#include "commands/session.h"
#include "commands/tree_report.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/tables.h"
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
	  .needs = TPA_EXPORT_TRACES },
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

/* Opens what the format needs, and calls it. */
static int write_format(const struct tpa_options *options)
{
	struct tpa_session session;
	struct tpa_replay_options replay;
	struct tpa_export export;
	bool run = needs_run(options), good;
	int status = run ? tpa_session_start(&session, options, TPA_GROUP_STACK) : tpa_session_open(&session, options);

	if (status != TPA_EXIT_OK)
		return status;
	for (size_t i = 0; !run && i < session.trace_count; i++)
		tpa_op_names(session.traces[i], options->debug_dir);
	replay = (struct tpa_replay_options){
		.thread = options->thread, .pid = options->process, .from_ns = options->from_ns, .to_ns = options->to_ns
	};
	export = export_of(&session, &replay);
	good = options->format->write(&export);
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
