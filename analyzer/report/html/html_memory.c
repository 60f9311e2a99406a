/* SPDX-License-Identifier: Apache-2.0 */
/* What an HTML report says of memory. */
#include "report/html/html_process.h"

#include <string.h>

#include "report/html/html_timeline.h"
#include "report/text/process_listing.h"

static const char *cwd_of(const json_t *json)
{
	return json_string_value(tp_html_at(json, "process.cwd"));
}

void tp_html_memory_over_time(const struct tp_html *html, const struct tp_process *process, const json_t *json)
{
	struct tp_html_timeline timeline = {
		.points = tp_html_at(json, "timeline.points"),
		.marks = tp_html_at(json, "timeline.marks"),
		.steps = tp_html_at(json, "steps.list"),
		.from_ns = (json_int_t)process->start_ns,
		.to_ns = (json_int_t)(process->start_ns + process->duration_ns),
		.peak_ns = tp_html_integer(json, "heap.peak_time_ns"),
		.peak_bytes = tp_html_integer(json, "heap.peak_bytes"),
	};

	tp_html_timeline(html, &timeline);
}

static const struct tp_html_column by_stack[] = {
	{ "bytes", "bytes", TP_HTML_BYTES, NULL },
	{ "%", "bytes", TP_HTML_PERCENT, NULL },
	{ "blocks", "blocks", TP_HTML_COUNT, NULL },
	{ "allocated by", "stack", TP_HTML_STACK,
	  "the frame that it is attributed to, and its callers; unfold for all" },
	TP_HTML_END,
};

void tp_html_peak(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column by_line[] = {
		{ "bytes", "bytes", TP_HTML_BYTES, NULL },
		{ "%", "bytes", TP_HTML_PERCENT, NULL },
		{ "blocks", "blocks", TP_HTML_COUNT, NULL },
		{ "with callees", "total_bytes", TP_HTML_BYTES, "this line's and what it called's" },
		{ "line", "line", TP_HTML_PLACE, NULL },
		{ "function", "function", TP_HTML_CODE, NULL },
		TP_HTML_END,
	};
	static const struct tp_html_column by_op[] = {
		{ "bytes", "bytes", TP_HTML_BYTES, NULL },
		{ "%", "bytes", TP_HTML_PERCENT, NULL },
		{ "blocks", "blocks", TP_HTML_COUNT, NULL },
		{ "op", "op", TP_HTML_CODE, "a dash: outside of every op" },
		TP_HTML_END,
	};
	json_int_t whole = tp_html_integer(json, "heap.peak_bytes");
	struct tp_html_table table = { .columns = by_stack, .whole = whole, .cwd = cwd_of(json) };

	tp_html_element(html, "h4", NULL, "by stack");
	table.path = "heap.peak_sites";
	table.total = tp_html_integer(json, "heap.peak_sites_total");
	tp_html_table(html, &table, tp_html_at(json, table.path));
	tp_html_element(html, "h4", NULL, "by line");
	table.path = "peak_lines.sites";
	table.columns = by_line;
	table.total = tp_html_integer(json, "peak_lines.sites_total");
	tp_html_table(html, &table, tp_html_at(json, table.path));
	if (tp_html_count(json, "peak_ops.sites") < 2)
		return;
	tp_html_element(html, "h4", NULL, "by op");
	table.path = "peak_ops.sites";
	table.columns = by_op;
	table.total = tp_html_integer(json, "peak_ops.sites_total");
	tp_html_table(html, &table, tp_html_at(json, table.path));
}

void tp_html_unfreed(const struct tp_html *html, const json_t *json)
{
	json_int_t blocks = tp_html_integer(json, "heap.suppressed.blocks");
	struct tp_html_table table = { .path = "heap.unfreed_sites",
				       .columns = by_stack,
				       .total = tp_html_integer(json, "heap.unfreed_sites_total"),
				       .whole = tp_html_integer(json, "heap.end_bytes"),
				       .cwd = cwd_of(json) };

	tp_html_element(html, "p", NULL,
			"Not freed is not yet leaked: caches and tables that are kept until the end are here too.");
	tp_html_table(html, &table, tp_html_at(json, table.path));
	if (blocks)
		tp_html_element(html, "p", "rest", "suppressed: %s in %s block%s",
				tp_bytes((uint64_t)tp_html_integer(json, "heap.suppressed.bytes"), html->exact).text,
				tp_count((uint64_t)blocks).text, tp_plural((uint64_t)blocks));
}

void tp_html_allocations(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ "allocations", "allocations", TP_HTML_COUNT, NULL },
		{ "%", "allocations", TP_HTML_PERCENT, NULL },
		{ "bytes", "bytes", TP_HTML_BYTES, NULL },
		{ "temporary", "temporary", TP_HTML_COUNT, "freed by the very next event" },
		{ "short-lived", "short_lived", TP_HTML_COUNT, "freed within a millisecond" },
		{ "allocated by", "stack", TP_HTML_STACK, NULL },
		TP_HTML_END,
	};
	struct tp_html_table table = { .path = "heap.hot_sites",
				       .columns = columns,
				       .total = tp_html_integer(json, "heap.hot_sites_total"),
				       .whole = tp_html_integer(json, "heap.allocations"),
				       .cwd = cwd_of(json) };

	tp_html_table(html, &table, tp_html_at(json, table.path));
}

/* Lines that add up, each with the name that the text has for it. */
static json_t *named_lines(const json_t *lines, bool seconds)
{
	static const struct {
		const char *key, *name;
	} names[] = {
		{ "live", "live blocks" },
		{ "allocator", "the allocator's: rounding, headers, free memory that it keeps" },
		{ "mapped", "anonymous mmap" },
		{ "files", "files, shared memory" },
		{ "stacks", "stacks" },
		{ "collector", "tprof's own tables" },
	};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *line = json_copy(json_object_get(lines, names[i].key));

		if (!line)
			continue;
		json_object_set_new(line, "name", json_string(names[i].name));
		if (seconds && strcmp(json_string_value(json_object_get(line, "verdict")), "leak") == 0)
			json_object_set_new(line, "verdict", json_string("growth"));
		json_array_append_new(list, line);
	}
	return list;
}

static void put_resident(const struct tp_html *html, const json_t *json, bool seconds)
{
	const struct tp_html_column columns[] = {
		{ "at first", "first_bytes", TP_HTML_BYTES, NULL },
		{ "at last", "last_bytes", TP_HTML_BYTES, NULL },
		{ seconds ? "a second" : "a step", "rate", TP_HTML_RATE, NULL },
		{ "95% interval", "ci95", TP_HTML_RATE, NULL },
		{ "verdict", "verdict", TP_HTML_VERDICT, NULL },
		{ "what RSS is made of", "name", TP_HTML_TEXT, NULL },
		TP_HTML_END,
	};
	struct tp_html_table table = { .path = "growth.resident", .columns = columns, .ordered = true };
	json_t *list;

	if (!tp_html_at(json, table.path))
		return;
	list = named_lines(tp_html_at(json, table.path), seconds);
	tp_html_element(html, "h4", NULL, "the process's memory");
	tp_html_table(html, &table, list);
	json_decref(list);
}

/* With time alone it is growth: a leak is what grows with the steps. */
static void put_verdict(const struct tp_html *html, const json_t *json, bool seconds)
{
	json_int_t count = tp_html_integer(json, "growth.leaks"), rising = tp_html_integer(json, "growth.rising");
	const char *plural = tp_plural((uint64_t)count), *verb = count == 1 ? "s" : "";
	struct tp_text rate = tp_html_figure(html, TP_HTML_RATE, tp_html_at(json, "growth.leak_rate"));

	if (!count && rising)
		tp_html_element(html, "p", "warn",
				"No stack grows to the end for sure; %s stack%s may: it rose too rarely to be told "
				"from chance, or ever more slowly.",
				tp_count((uint64_t)rising).text, tp_plural((uint64_t)rising));
	else if (!count)
		tp_html_element(html, "p", "good", "Nothing grows with the %s to the end.", seconds ? "time" : "steps");
	else if (seconds)
		tp_html_element(html, "p", "warn",
				"%s stack%s grow%s by %s a second, to the end. The trace has no steps to tell whether "
				"that is a "
				"leak: tprof_step() marks them.",
				tp_count((uint64_t)count).text, plural, verb, rate.text);
	else
		tp_html_element(html, "p", "warn", "%s stack%s leak%s %s a step: growing with the steps, to the end.",
				tp_count((uint64_t)count).text, plural, verb, rate.text);
}

void tp_html_growth(const struct tp_html *html, const json_t *json)
{
	bool seconds = strcmp(json_string_value(tp_html_at(json, "growth.unit")), "second") == 0;
	const struct tp_html_column columns[] = {
		{ "verdict", "verdict", TP_HTML_VERDICT,
		  "leak, growth: to the end; warm-up: it grew and stopped; burst: for a short time, or in a jump; "
		  "rising: now and then, and it never fell, or ever more slowly" },
		{ seconds ? "a second" : "a step", seconds ? "bytes_per_second" : "bytes_per_step", TP_HTML_RATE,
		  NULL },
		{ "95% interval", "ci95", TP_HTML_RATE, NULL },
		{ "since", "since", seconds ? TP_HTML_TIME : TP_HTML_COUNT, seconds ? NULL : "step" },
		{ "bytes", "bytes", TP_HTML_BYTES, "at the end" },
		{ "blocks", "blocks", TP_HTML_COUNT, NULL },
		{ "allocated by", "stack", TP_HTML_STACK, NULL },
		TP_HTML_END,
	};
	struct tp_html_table table = { .path = "growth.sites", .columns = columns, .cwd = cwd_of(json) };

	put_verdict(html, json, seconds);
	tp_html_element(html, "p", "rest",
			"From %s looks at %s stacks, of which %s changed; the chance of any false one is below 5%%.",
			tp_count((uint64_t)tp_html_integer(json, "growth.looks")).text,
			tp_count((uint64_t)tp_html_integer(json, "growth.sites_total")).text,
			tp_count((uint64_t)tp_html_integer(json, "growth.varying")).text);
	table.total = 0;
	tp_html_table(html, &table, tp_html_at(json, table.path));
	put_resident(html, json, seconds);
}

void tp_html_reachability(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ "bytes", "bytes", TP_HTML_BYTES, NULL },
		{ "blocks", "blocks", TP_HTML_COUNT, NULL },
		{ "allocated by", "stack", TP_HTML_STACK, NULL },
		TP_HTML_END,
	};
	static const struct {
		const char *key, *words;
	} kinds[] = {
		{ "definitely_lost", "definitely lost: nothing points to it" },
		{ "indirectly_lost", "indirectly lost: only lost blocks point to it" },
		{ "possibly_lost", "possibly lost: only pointers into its inside point to it" },
	};
	char path[64], total[64];

	tp_html_element(html, "p", NULL, "The search was %s after the start.",
			tp_html_figure(html, TP_HTML_TIME, tp_html_at(json, "reachability.time_ns")).text);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *kind = json_object_get(tp_html_at(json, "reachability"), kinds[i].key);
		struct tp_html_table table = { .path = path, .columns = columns, .cwd = cwd_of(json) };

		tp_html_element(html, "h4", NULL, "%s in %s blocks %s",
				tp_html_figure(html, TP_HTML_BYTES, json_object_get(kind, "bytes")).text,
				tp_html_figure(html, TP_HTML_COUNT, json_object_get(kind, "blocks")).text,
				kinds[i].words);
		snprintf(path, sizeof(path), "reachability.%s.sites", kinds[i].key);
		snprintf(total, sizeof(total), "reachability.%s.sites_total", kinds[i].key);
		table.total = tp_html_integer(json, total);
		tp_html_table(html, &table, tp_html_at(json, path));
	}
}
