/* SPDX-License-Identifier: Apache-2.0 */
#include "export/openmetrics.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/formats.h"
#include "report/rows/findings.h"
#include "report/rows/process_facts.h"
#include "report/rows/sorted.h"
#include "report/text/safe_stream.h"

#define OPS_MOST 100 /* ops that get a metric, those with most self time */

/* The format's own escapes; control characters are the stream's concern. */
static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		if (*value == '\n')
			fputs("\\n", out);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

static void print_family(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void print_process(FILE *out, const struct tpa_process *process)
{
	char pid[20];

	snprintf(pid, sizeof(pid), "%" PRIu32, process->trace->header->pid);
	print_label(out, "program", tpa_program_name(process->trace));
	fputc(',', out);
	print_label(out, "pid", pid);
}

/* ---- totals ---- */

static const struct tpa_point *last_point(const struct tpa_process *process)
{
	static const struct tpa_point none;

	return process->point_count ? &process->timeline[process->point_count - 1] : &none;
}

static uint64_t live(const struct tpa_process *process)
{
	return process->heap.end_bytes;
}

static uint64_t peak(const struct tpa_process *process)
{
	return process->heap.peak_bytes;
}

static uint64_t rss(const struct tpa_process *process)
{
	return last_point(process)->rss;
}

static uint64_t mapped(const struct tpa_process *process)
{
	return last_point(process)->mapped_bytes;
}

static uint64_t allocations(const struct tpa_process *process)
{
	return process->heap.allocations;
}

static uint64_t allocated(const struct tpa_process *process)
{
	return process->heap.bytes;
}

static uint64_t steps(const struct tpa_process *process)
{
	return process->steps.count;
}

static const struct {
	const char *name, *type, *unit, *help;
	uint64_t (*value)(const struct tpa_process *process);
} totals[] = {
	{ "tprof_live_bytes", "gauge", "bytes", "Live heap blocks; once the program has ended, those that it left",
	  live },
	{ "tprof_peak_bytes", "gauge", "bytes", "Most live heap blocks so far", peak },
	{ "tprof_rss_bytes", "gauge", "bytes", "Resident memory", rss },
	{ "tprof_mapped_bytes", "gauge", "bytes", "Memory that the program mapped", mapped },
	{ "tprof_allocations", "counter", NULL, "Allocations", allocations },
	{ "tprof_allocated_bytes", "counter", "bytes", "Requested bytes", allocated },
	{ "tprof_steps", "counter", NULL, "Training steps", steps },
};

/* All samples of a family stand together. */
static void print_totals(FILE *out, const struct tpa_run *run)
{
	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
		print_family(out, totals[i].name, totals[i].type, totals[i].unit, totals[i].help);
		for (size_t k = 0; k < run->process_count; k++) {
			fprintf(out, "%s%s{", totals[i].name, totals[i].type[0] == 'c' ? "_total" : "");
			print_process(out, &run->processes[k]);
			fprintf(out, "} %" PRIu64 "\n", totals[i].value(&run->processes[k]));
		}
	}
}

/* ---- ops ---- */

static void print_op(FILE *out, const char *name, const struct tpa_process *process, const struct tpa_op_stats *op)
{
	fprintf(out, "%s{", name);
	print_process(out, process);
	fputc(',', out);
	print_label(out, "op", op->name);
	fputs("} ", out);
}

static void print_ops_of(FILE *out, const struct tpa_process *process, bool calls)
{
	struct tpa_op_list list;
	size_t count;

	tpa_op_list(&list, process, "self", NULL);
	tpa_op_list_join(&list);
	count = list.count < OPS_MOST ? list.count : OPS_MOST;
	for (size_t i = 0; i < count; i++) {
		print_op(out, calls ? "tprof_op_calls_total" : "tprof_op_self_seconds_total", process, list.ops[i]);
		if (calls)
			fprintf(out, "%" PRIu64 "\n", list.ops[i]->calls);
		else
			fprintf(out, "%.9f\n", (double)list.ops[i]->self_ns / 1e9);
	}
	free(list.ops);
}

static void print_ops(FILE *out, const struct tpa_run *run)
{
	print_family(out, "tprof_op_self_seconds", "counter", "seconds", "Time in an op and in no other op");
	for (size_t i = 0; i < run->process_count; i++)
		print_ops_of(out, &run->processes[i], false);
	print_family(out, "tprof_op_calls", "counter", NULL, "Calls of an op");
	for (size_t i = 0; i < run->process_count; i++)
		print_ops_of(out, &run->processes[i], true);
}

/* ---- what leaks ---- */

static void print_leak(FILE *out, const char *name, const struct tpa_process *process,
		       const struct tpa_finding *finding)
{
	const struct tpa_line *line = finding->line_count ? &finding->lines[0].line : NULL;
	char place[1000] = TPA_ARENAS_NAME, function[256];

	if (!finding->arenas)
		snprintf(place, sizeof(place), "%s%s%s:%d",
			 line ? tpa_line_name(line, function, sizeof(function)) : "?",
			 line && line->location && line->location->file ? " " : "",
			 line && line->location && line->location->file ? line->location->file : "",
			 line && line->location ? line->location->line : 0);
	fprintf(out, "%s{", name);
	print_process(out, process);
	fputc(',', out);
	print_label(out, "place", place);
	fprintf(out, "} %.17g\n", finding->site.rate);
}

/* Those that are measured by step, or by second. */
static void print_leaks(FILE *out, const struct tpa_growth_view *all, bool seconds)
{
	const char *name = seconds ? "tprof_leak_bytes_per_second" : "tprof_leak_bytes_per_step";
	struct tpa_growth_view view = *all;
	bool begun = false;

	for (view.process = 0; view.process < all->listing.run->process_count; view.process++) {
		const struct tpa_process *process = &all->listing.run->processes[view.process];
		struct tpa_findings findings = { 0 };

		if (process->growth.seconds != seconds)
			continue;
		if (!begun)
			print_family(out, name, "gauge", NULL, "What a place in the program leaks");
		begun = true;
		if (tpa_findings_enough(&view))
			tpa_findings_find(&findings, &view, false);
		for (size_t i = 0; i < findings.leaks; i++)
			print_leak(out, name, process, &findings.list[i]);
		tpa_findings_free(&findings);
	}
}

void tpa_openmetrics_write(FILE *to, const struct tpa_run *run, struct tpa_symbols *const *symbols,
			   const regex_t *filter, struct tpa_suppressions *suppressions)
{
	struct tpa_growth_view view = { .listing = { .run = run, .symbols = symbols },
					.filter = filter,
					.suppressions = suppressions };
	FILE *out = tpa_plain_open(to, false);

	print_totals(out, run);
	print_ops(out, run);
	print_leaks(out, &view, false);
	print_leaks(out, &view, true);
	fputs("# EOF\n", out);
	fclose(out);
}

bool tpa_export_openmetrics(struct tpa_export *export)
{
	const struct tpa_run *run = export->run;
	struct tpa_symbols **symbols = tpa_zalloc(run->process_count, sizeof(struct tpa_symbols *));
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	tpa_need(memory != NULL);
	for (size_t i = 0; i < run->process_count; i++)
		symbols[i] = tpa_export_symbols(export, tpa_export_index(export, &run->processes[i]));
	tpa_openmetrics_write(memory, run, symbols, export->filter, export->suppressions);
	free((void *)symbols);
	fwrite(text, 1, size, export->out);
	free(text);
	return !ferror(export->out);
}
