/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a process's part, and the notes at its end. */
#include "report/html/html_process.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "report/rows/op_columns.h"
#include "report/text/coverage.h"
#include "report/text/process_listing.h"

static void put_command(const struct tpa_html *html, const json_t *json)
{
	const json_t *args = tpa_html_at(json, "process.args");

	fputs("<pre class=\"command\">", html->out);
	for (size_t i = 0; i < json_array_size(args); i++) {
		const char *argument = json_string_value(json_array_get(args, i));

		tpa_html_print(html, "%s%s", i ? " " : "", argument ? argument : "?");
	}
	fputs("</pre>\n", html->out);
}

static void put_run(const struct tpa_html *html, const struct tpa_process *process)
{
	const struct tprof_header *header = process->trace->header;

	tpa_html_element(html, "p", "run", "%s, %s", tpa_process_number(process->trace).text,
			 tpa_run_sentence(process).text);
	if (process->estimated)
		tpa_html_element(html, "p", "warn",
				 "Allocations were sampled%s, one each %s%s: numbers with an interval are "
				 "estimates (95%% confidence).",
				 header->max_overhead ? " at times" : "",
				 tpa_bytes(tpa_round(process->unseen.bytes), false).text,
				 header->max_overhead ? " or more often" : "");
}

/* Writes which losses occurred. */
static void put_losses(const struct tpa_html *html, const json_t *json)
{
	const json_t *lost = tpa_html_at(json, "capture.lost"), *count;
	json_int_t events = tpa_html_integer(json, "capture.lost_events");
	const char *cause;

	if (events)
		tpa_html_element(html, "p", "warn", "%s events lost: the numbers are too small by these.",
				 tpa_count((uint64_t)events).text);
	else if (!tpa_html_integer(json, "capture.aside_bytes"))
		tpa_html_element(html, "p", "good", "No event was lost.");
	json_object_foreach((json_t *)lost, cause, count)
		if (json_integer_value(count))
			tpa_html_element(html, "p", "warn", "lost: %s %s",
					 tpa_count((uint64_t)json_integer_value(count)).text, cause);
}

static void print_hooks(const struct tpa_page *page, const void *process)
{
	tpa_hooks_print(page, ((const struct tpa_process *)process)->trace);
}

void tpa_html_overview(const struct tpa_html *html, const struct tpa_process *process, const json_t *json)
{
	static const struct tpa_html_fact tiles[] = {
		{ "peak", "heap.peak_bytes", TPA_HTML_BYTES, "most bytes alive at once, as requested" },
		{ "at the end", "heap.end_bytes", TPA_HTML_BYTES, "not freed; that alone is no leak" },
		{ "RSS at most", "heap.rss_peak_bytes", TPA_HTML_BYTES, "resident memory, as it was sampled" },
		{ "allocations", "heap.allocations", TPA_HTML_COUNT, NULL },
		{ "CPU time", "capture.cpu_ns", TPA_HTML_TIME, "by samples" },
		{ "run time", "process.duration_ns", TPA_HTML_TIME, NULL },
		{ "tprof's own cost", "capture.overhead_ns", TPA_HTML_TIME, "an estimate; op times have it taken out" },
		TPA_HTML_END,
	};
	static const struct tpa_html_fact facts[] = {
		{ "blocks at the peak", "heap.peak_blocks", TPA_HTML_COUNT, NULL },
		{ "when", "heap.peak_time_ns", TPA_HTML_TIME, "since the run's start" },
		{ "usable at the peak", "heap.peak_usable_bytes", TPA_HTML_BYTES,
		  "what the allocator set aside for these blocks" },
		{ "blocks at the end", "heap.end_blocks", TPA_HTML_COUNT, NULL },
		{ "mmap at most", "heap.mapped_peak_bytes", TPA_HTML_BYTES, "address space, not memory in use" },
		{ "allocated in all", "heap.allocated_bytes", TPA_HTML_BYTES, NULL },
		{ "frees", "heap.frees", TPA_HTML_COUNT, NULL },
		{ "temporary", "heap.temporary_allocations", TPA_HTML_COUNT, "freed by the very next event" },
		{ "short-lived", "heap.short_lived_allocations", TPA_HTML_COUNT, "freed within a millisecond" },
		{ "events", "capture.events", TPA_HTML_COUNT, NULL },
		{ "op events", "capture.op_events", TPA_HTML_COUNT, NULL },
		{ "CPU samples", "capture.cpu_samples", TPA_HTML_COUNT, NULL },
		{ "the collector's CPU time", "capture.cpu_own_ns", TPA_HTML_TIME, "by samples; in no figure here" },
		{ "the collector's memory", "capture.collector_bytes", TPA_HTML_BYTES, "in no figure here" },
		{ "trace", "capture.trace_bytes", TPA_HTML_BYTES, NULL },
		{ "threads", "capture.threads", TPA_HTML_COUNT, NULL },
		TPA_HTML_END,
	};

	put_command(html, json);
	put_run(html, process);
	tpa_html_facts(html, "tiles", tiles, json);
	put_losses(html, json);
	fputs("<details><summary>What was recorded, and what it cost</summary>\n", html->out);
	tpa_html_facts(html, "facts", facts, json);
	tpa_html_quote(html, NULL, print_hooks, process);
	fputs("</details>\n", html->out);
}

void tpa_html_notes(const struct tpa_html *html, const json_t *json)
{
	const json_t *notes = json_object_get(json, "notes");

	if (!json_array_size(notes))
		return;
	fputs("<ul class=\"notes\">\n", html->out);
	for (size_t i = 0; i < json_array_size(notes); i++)
		tpa_html_element(html, "li", NULL, "%s", json_string_value(json_array_get(notes, i)));
	fputs("</ul>\n", html->out);
}

void tpa_html_priorities(const struct tpa_html *html, const json_t *json)
{
	const json_t *ops = tpa_html_at(json, "priorities.time");
	static const struct tpa_html_table table = { .path = "priorities.time",
						     .described = tpa_priority_columns,
						     .keys = "op self_ns share_of_ops share_of_run speedup_at_most" };
	json_int_t sites = tpa_html_integer(json, "priorities.memory.sites"),
		   peak = tpa_html_integer(json, "heap.peak_bytes");
	json_int_t bytes = tpa_html_integer(json, "priorities.memory.bytes");
	json_int_t largest = tpa_html_integer(json, "priorities.memory.largest_bytes");

	if (json_array_size(ops)) {
		tpa_html_element(html, "p", NULL,
				 "Time: %zu op%s of %" JSON_INTEGER_FORMAT " take%s 80%% of the ops' time.",
				 json_array_size(ops), tpa_plural(json_array_size(ops)),
				 tpa_html_integer(json, "ops_total"), json_array_size(ops) == 1 ? "s" : "");
		tpa_html_table(html, &table, ops);
	}
	if (sites && peak)
		tpa_html_element(
			html, "p", NULL,
			"Memory: %s stack%s hold%s %s of the peak; without the largest it is lower by %s (%s) at "
			"most.",
			tpa_count((uint64_t)sites).text, tpa_plural((uint64_t)sites), sites == 1 ? "s" : "",
			tpa_percent((uint64_t)bytes, (uint64_t)peak).text,
			tpa_percent((uint64_t)largest, (uint64_t)peak).text,
			tpa_bytes((uint64_t)largest, html->exact).text);
}
