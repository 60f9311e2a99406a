/* SPDX-License-Identifier: Apache-2.0 */
/* The memory sections of an HTML report. */
#include "report/html/html_process.h"

#include <string.h>

#include "report/json/json_value.h"
#include "report/rows/site_columns.h"
#include "report/text/process_listing.h"

static const char *cwd_of(const json_t *json)
{
	return json_string_value(tpa_html_at(json, "process.cwd"));
}

static const char by_stack[] = "bytes bytes:% blocks stack:stack";

void tpa_html_peak(const struct tpa_html *html, const json_t *json)
{
	json_int_t whole = tpa_html_integer(json, "heap.peak_bytes");
	struct tpa_html_table table = {
		.described = tpa_site_columns(TPA_WHAT_PEAK), .keys = by_stack, .whole = whole, .cwd = cwd_of(json)
	};

	tpa_html_element(html, "h4", NULL, "by stack");
	table.path = "heap.peak_sites";
	table.total = tpa_html_integer(json, "heap.peak_sites_total");
	tpa_html_table(html, &table, tpa_html_at(json, table.path));
	tpa_html_element(html, "h4", NULL, "by line");
	table.path = "peak_lines.sites";
	table.keys = "bytes bytes:% blocks total_bytes line:place function:code";
	table.total = tpa_html_integer(json, "peak_lines.sites_total");
	tpa_html_table(html, &table, tpa_html_at(json, table.path));
	if (tpa_html_count(json, "peak_ops.sites") < 2)
		return;
	tpa_html_element(html, "h4", NULL, "by op");
	table.path = "peak_ops.sites";
	table.keys = "bytes bytes:% blocks op:code";
	table.total = tpa_html_integer(json, "peak_ops.sites_total");
	tpa_html_table(html, &table, tpa_html_at(json, table.path));
}

void tpa_html_unfreed(const struct tpa_html *html, const json_t *json)
{
	json_int_t blocks = tpa_html_integer(json, "heap.suppressed.blocks");
	struct tpa_html_table table = { .path = "heap.unfreed_sites",
					.described = tpa_site_columns(TPA_WHAT_UNFREED),
					.keys = by_stack,
					.total = tpa_html_integer(json, "heap.unfreed_sites_total"),
					.whole = tpa_html_integer(json, "heap.end_bytes"),
					.cwd = cwd_of(json) };

	tpa_html_element(html, "p", NULL,
			 "Not freed is not yet leaked: caches and tables that are kept until the end are here too, and "
			 "come last.");
	tpa_html_table(html, &table, tpa_html_at(json, table.path));
	if (blocks)
		tpa_html_element(html, "p", "rest", "left out by suppressions: %s in %s block%s",
				 tpa_bytes((uint64_t)tpa_html_integer(json, "heap.suppressed.bytes"), html->exact).text,
				 tpa_count((uint64_t)blocks).text, tpa_plural((uint64_t)blocks));
}

void tpa_html_allocations(const struct tpa_html *html, const json_t *json)
{
	struct tpa_html_table table = { .path = "heap.hot_sites",
					.described = tpa_site_columns(TPA_WHAT_ALLOCATED),
					.keys = "allocations allocations:% bytes temporary short_lived stack:stack",
					.total = tpa_html_integer(json, "heap.hot_sites_total"),
					.whole = tpa_html_integer(json, "heap.allocations"),
					.cwd = cwd_of(json) };

	tpa_html_table(html, &table, tpa_html_at(json, table.path));
}

/* Lines that add up, with the names that the text report gives them. */
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
		tpa_json_set(line, "name", json_string(names[i].name));
		if (seconds && strcmp(json_string_value(json_object_get(line, "verdict")), "leak") == 0)
			tpa_json_set(line, "verdict", json_string("growth"));
		json_array_append_new(list, line);
	}
	return list;
}

static void put_resident(const struct tpa_html *html, const json_t *json, bool seconds)
{
	const struct tpa_html_column columns[] = {
		{ "at first", "first_bytes", TPA_HTML_BYTES, NULL },
		{ "at last", "last_bytes", TPA_HTML_BYTES, NULL },
		{ seconds ? "a second" : "a step", "rate", TPA_HTML_RATE, NULL },
		{ "95% interval", "ci95", TPA_HTML_RATE, NULL },
		{ "verdict", "verdict", TPA_HTML_VERDICT, NULL },
		{ "what RSS is made of", "name", TPA_HTML_TEXT, NULL },
		TPA_HTML_END,
	};
	struct tpa_html_table table = { .path = "growth.resident", .columns = columns, .ordered = true };
	json_t *list;

	if (!tpa_html_at(json, table.path))
		return;
	list = named_lines(tpa_html_at(json, table.path), seconds);
	tpa_html_element(html, "h4", NULL, "the process's memory");
	tpa_html_table(html, &table, list);
	json_decref(list);
}

/* Without steps it is growth: a leak grows with the steps. */
static void put_verdict(const struct tpa_html *html, const json_t *json, bool seconds)
{
	json_int_t count = tpa_html_integer(json, "growth.leaks"), rising = tpa_html_integer(json, "growth.rising");
	const char *plural = tpa_plural((uint64_t)count), *verb = count == 1 ? "s" : "";
	struct tpa_text rate = tpa_html_figure(html, TPA_HTML_RATE, tpa_html_at(json, "growth.leak_rate"));

	if (!count && rising)
		tpa_html_element(html, "p", "warn",
				 "No stack grows to the end for sure; %s stack%s may: it rose too rarely to be told "
				 "from chance, or ever more slowly.",
				 tpa_count((uint64_t)rising).text, tpa_plural((uint64_t)rising));
	else if (!count)
		tpa_html_element(html, "p", "good", "Nothing grows with the %s to the end.",
				 seconds ? "time" : "steps");
	else if (seconds)
		tpa_html_element(html, "p", "warn",
				 "%s stack%s grow%s by %s a second, to the end. The trace has no steps to tell whether "
				 "that is a "
				 "leak: tprof_step() marks them.",
				 tpa_count((uint64_t)count).text, plural, verb, rate.text);
	else
		tpa_html_element(html, "p", "warn", "%s stack%s leak%s %s a step: growing with the steps, to the end.",
				 tpa_count((uint64_t)count).text, plural, verb, rate.text);
}

void tpa_html_growth(const struct tpa_html *html, const json_t *json)
{
	bool seconds = strcmp(json_string_value(tpa_html_at(json, "growth.unit")), "second") == 0;
	const struct tpa_html_column columns[] = {
		{ "verdict", "verdict", TPA_HTML_VERDICT,
		  "leak, growth: to the end; warm-up: it grew and stopped; burst: for a short time, or in a jump; "
		  "rising: now and then, and it never fell, or ever more slowly" },
		{ seconds ? "a second" : "a step", seconds ? "bytes_per_second" : "bytes_per_step", TPA_HTML_RATE,
		  NULL },
		{ "95% interval", "ci95", TPA_HTML_RATE, NULL },
		{ "since", "since", seconds ? TPA_HTML_TIME : TPA_HTML_COUNT, seconds ? NULL : "step" },
		{ "bytes", "bytes", TPA_HTML_BYTES, "at the end" },
		{ "blocks", "blocks", TPA_HTML_COUNT, NULL },
		{ "allocated by", "stack", TPA_HTML_STACK, NULL },
		TPA_HTML_END,
	};
	struct tpa_html_table table = { .path = "growth.sites", .columns = columns, .cwd = cwd_of(json) };

	put_verdict(html, json, seconds);
	tpa_html_element(html, "p", "rest",
			 "The chance of any false one among these rows (a false alarm) is under 5%%.");
	table.total = 0;
	tpa_html_table(html, &table, tpa_html_at(json, table.path));
	put_resident(html, json, seconds);
}

void tpa_html_reachability(const struct tpa_html *html, const json_t *json)
{
	static const struct {
		const char *key, *words;
	} kinds[] = {
		{ "definitely_lost", "definitely lost: nothing points to it" },
		{ "indirectly_lost", "indirectly lost: only lost blocks point to it" },
		{ "possibly_lost", "possibly lost: only pointers into its inside point to it" },
	};
	char path[64], total[64];

	tpa_html_element(html, "p", NULL, "The search was %s after the start.",
			 tpa_html_figure(html, TPA_HTML_TIME, tpa_html_at(json, "reachability.time_ns")).text);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *kind = json_object_get(tpa_html_at(json, "reachability"), kinds[i].key);
		struct tpa_html_table table = { .path = path,
						.described = tpa_site_columns(TPA_WHAT_UNFREED),
						.keys = "bytes blocks stack:stack",
						.cwd = cwd_of(json) };

		tpa_html_element(html, "h4", NULL, "%s in %s blocks %s",
				 tpa_html_figure(html, TPA_HTML_BYTES, json_object_get(kind, "bytes")).text,
				 tpa_html_figure(html, TPA_HTML_COUNT, json_object_get(kind, "blocks")).text,
				 kinds[i].words);
		snprintf(path, sizeof(path), "reachability.%s.sites", kinds[i].key);
		snprintf(total, sizeof(total), "reachability.%s.sites_total", kinds[i].key);
		table.total = tpa_html_integer(json, total);
		tpa_html_table(html, &table, tpa_html_at(json, path));
	}
}
