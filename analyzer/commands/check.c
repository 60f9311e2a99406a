/* SPDX-License-Identifier: Apache-2.0 */
/* check: enforces limits on runs. Exits with status 1 and prints a line for each breach. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/input/runs.h"
#include "commands/verdicts.h"
#include "report/json/diff_json.h"
#include "report/json/json_writer.h"
#include "report/export/junit.h"
#include "report/text/output.h"

static int gather(const struct tpa_options *options, struct tpa_rules *rules)
{
	bool baseline = false;

	for (size_t i = 0; i < options->rule_count; i++) {
		if (!tpa_rules_add(rules, "--", options->rules[i].name, options->rules[i].value))
			return TPA_EXIT_USAGE;
	}
	if (options->rules_file && !tpa_rules_read(rules, options->rules_file))
		return TPA_EXIT_USAGE;
	for (size_t i = 0; i < rules->count; i++)
		baseline |= rules->list[i].regress;
	if (!rules->count)
		fputs("tprof-analyze: check wants a rule: --max-peak, --max-unfreed, --max-rss, --max-allocations, "
		      "--max-growth, --max-regress or --rules FILE\n",
		      stderr);
	else if (baseline && !options->baseline_count)
		fputs("tprof-analyze: --max-regress wants a --baseline TRACE to compare with\n", stderr);
	else
		return TPA_EXIT_OK;
	return TPA_EXIT_USAGE;
}

struct adding {
	struct tpa_verdicts *verdicts;
	int side;
};

static void add(struct tpa_session *session, void *context)
{
	struct adding *adding = context;

	tpa_verdicts_add(adding->verdicts, adding->side, session->run);
}

static int add_side(const struct tpa_options *options, struct tpa_verdicts *verdicts, int side,
		    const char *const *files, size_t count)
{
	struct adding adding = { verdicts, side };

	return tpa_runs_each(options, files, count, add, &adding);
}

/* ---- text ---- */

static const char *const verdict_names[] = { "kept", "breach", "unchecked" };

static void print_table(const struct tpa_verdicts *verdicts, const struct tpa_page *page)
{
	struct tpa_table *table = tpa_table_new("rule|verdict|*why");

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct tpa_verdict_row *row = &verdicts->list[i];

		tpa_table_add(table, TPA_STYLE_FUNCTION, row->rule->text);
		tpa_table_add(table, TPA_STYLE_PLAIN, verdict_names[row->verdict]);
		tpa_table_add(table, TPA_STYLE_PLAIN, row->verdict == TPA_RULE_KEPT ? "" : row->message);
	}
	tpa_table_end(table, page);
	tpa_notes_print(&verdicts->notes, page, 0);
}

static void print_text(const struct tpa_verdicts *verdicts, const struct tpa_page *page)
{
	FILE *out = page->out;
	size_t kept = 0;

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct tpa_verdict_row *row = &verdicts->list[i];

		kept += row->verdict == TPA_RULE_KEPT;
		if (row->verdict != TPA_RULE_KEPT)
			fprintf(out, "%s: %s\n", row->rule->text, row->message);
	}
	if (kept == verdicts->count)
		fprintf(out, "%zu rule%s kept\n", kept, tpa_plural(kept));
	tpa_notes_print(&verdicts->notes, page, 0);
}

static json_t *row_json(const struct tpa_verdict_row *row)
{
	bool regress = row->rule->regress, timed = row->rule->metric >= TPA_METRIC_STEP;
	json_t *json = json_object();

	tpa_json_set(json, "rule", tpa_json_string(row->rule->text));
	tpa_json_set(json, "verdict", json_string(verdict_names[row->verdict]));
	tpa_json_set(json, "message", row->verdict == TPA_RULE_KEPT ? json_null() : tpa_json_string(row->message));
	tpa_json_set(json, "limit", json_real(row->rule->limit));
	tpa_json_set(json, "old",
		     regress && !timed && row->side[0].runs.count ? json_real(row->side[0].runs.mean) : json_null());
	tpa_json_set(json, "new",
		     timed || !row->side[1].runs.count ? json_null()
		     : regress			       ? json_real(row->side[1].runs.mean)
						       : json_real(row->most));
	tpa_json_set(json, "ratio", tpa_json_real(row->difference.ratio));
	tpa_json_set(json, "ratio_ci95",
		     isnan(row->difference.p) ? json_null() : tpa_json_interval(row->difference.interval));
	tpa_json_set(json, "p", tpa_json_real(row->difference.p));
	tpa_json_set(json, "p_corrected", tpa_json_real(row->corrected));
	return json;
}

static json_t *verdicts_json(const struct tpa_verdicts *verdicts, bool passed)
{
	json_t *rules = json_array(), *json;

	for (size_t i = 0; i < verdicts->count; i++)
		json_array_append_new(rules, row_json(&verdicts->list[i]));
	json = json_pack("{s:s, s:b, s:o, s:o, s:o}", "schema", "tprof/1", "passed", passed, "runs",
			 tpa_json_number(verdicts->runs[1]), "baseline_runs", tpa_json_number(verdicts->runs[0]),
			 "rules", rules);
	tpa_json_set(json, "notes", tpa_json_texts(&verdicts->notes));
	return json;
}

static int write_junit(const struct tpa_verdicts *verdicts, const char *path, int status)
{
	struct tpa_junit_case *cases = tpa_zalloc(verdicts->count, sizeof(*cases));
	bool good;

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct tpa_verdict_row *row = &verdicts->list[i];

		cases[i].name = row->rule->text;
		cases[i].failure = row->verdict == TPA_RULE_KEPT ? NULL : row->message;
	}
	good = tpa_junit_write(path, cases, verdicts->count);
	if (!good)
		fprintf(stderr, "tprof-analyze: --junit %s: can't be written: %s\n", path, tpa_output_error(errno));
	free(cases);
	return good ? status : TPA_EXIT_USAGE;
}

static int report(const struct tpa_session *page, struct tpa_verdicts *verdicts)
{
	const struct tpa_options *options = page->options;
	int status = TPA_EXIT_OK;

	tpa_verdicts_judge(verdicts);
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->list[i].verdict != TPA_RULE_KEPT)
			status = TPA_EXIT_FOUND;
	if (options->json)
		tpa_json_write(verdicts_json(verdicts, status == TPA_EXIT_OK), page->page.out);
	else if (page->page.markdown)
		print_table(verdicts, &page->page);
	else
		print_text(verdicts, &page->page);
	return options->junit ? write_junit(verdicts, options->junit, status) : status;
}

static int check(const struct tpa_options *options, const struct tpa_rules *rules)
{
	struct tpa_verdicts verdicts;
	struct tpa_session page;
	int status = tpa_page_open(&page, options);

	if (status != TPA_EXIT_OK)
		return status;
	tpa_verdicts_init(&verdicts, rules);
	status = add_side(options, &verdicts, 0, options->baselines, options->baseline_count);
	if (status == TPA_EXIT_OK)
		status = add_side(options, &verdicts, 1, options->traces, options->trace_count);
	if (status == TPA_EXIT_OK)
		status = report(&page, &verdicts);
	tpa_verdicts_free(&verdicts);
	return tpa_session_close(&page, status);
}

int tpa_cmd_check(const struct tpa_options *options)
{
	struct tpa_rules rules = { 0 };
	int status = gather(options, &rules);

	if (status == TPA_EXIT_OK)
		status = check(options, &rules);
	tpa_rules_free(&rules);
	return status;
}
