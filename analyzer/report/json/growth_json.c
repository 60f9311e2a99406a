/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/findings.h"
#include "report/rows/known_caches.h"

#define MANY 1000 /* most stacks listed that do not leak */

static void set_births(json_t *json, const struct tpa_growth_site *site)
{
	tpa_json_set(json, "typical_bytes", site->typical ? tpa_json_number(site->typical) : json_null());
	tpa_json_set(json, "born",
		     site->typical ? json_pack("[o, o, o]", tpa_json_number(site->born[0]),
					       tpa_json_number(site->born[1]), tpa_json_number(site->born[2]))
				   : json_null());
}

/* Sets the keys that rows of the group's kind have. */
static void set_group(const struct tpa_growth_view *view, json_t *json, const struct tpa_growth_site *site)
{
	const struct tpa_growth_group *group = &view->pooled->groups[site->number];

	if (view->listing.by == TPA_BY_OP)
		tpa_json_set(json, "op", tpa_json_string(group->op));
	else
		tpa_json_line(json, &group->line, view->listing.by);
}

static json_t *json_site(const struct tpa_growth_view *view, const struct tpa_growth_site *site, bool heap)
{
	const struct tpa_process *process = &view->listing.run->processes[view->process];
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	json_t *json = json_object();
	json_int_t own;

	tpa_json_set(json, stats->seconds ? "bytes_per_second" : "bytes_per_step", json_real(site->rate));
	tpa_json_set(json, "ci95", tpa_json_interval((struct tpa_interval){ site->low, site->high }));
	tpa_json_set(json, "verdict", json_string(tpa_verdict_name(site->verdict, stats->seconds)));
	if (heap)
		tpa_json_set(json, stats->seconds ? "blocks_per_second" : "blocks_per_step",
			     json_real(site->block_rate));
	tpa_json_set(json, "p_value", json_real(site->p));
	tpa_json_set(json, "since", site->rate != 0 ? tpa_json_number(site->since) : json_null());
	tpa_json_set(json, "bytes", tpa_json_number(site->bytes));
	if (heap)
		tpa_json_set(json, "blocks", tpa_json_number(site->blocks));
	tpa_json_set(json, "grown_bytes", json_integer(site->grown));
	tpa_json_set(json, "left_bytes", view->pooled ? json_null() : tpa_json_number(site->left));
	tpa_json_set(json, "most_bytes", tpa_json_number(site->most));
	tpa_json_set(json, "table_factor", site->factor > 0 ? json_real(site->factor) : json_null());
	tpa_json_set(json, "table_next", site->factor > 0 ? tpa_json_number(site->next) : json_null());
	if (heap) {
		set_births(json, site);
		tpa_json_set(json, "op", tpa_json_string(tpa_process_op_name(process, site->op)));
	}
	tpa_json_set(json, "stack",
		     tpa_json_stack(process->trace, view->listing.symbols[view->process], site->node, NULL, &own));
	tpa_json_set(json, "own", json_integer(own));
	tpa_json_set(json, "stacks", json_integer(site->members));
	tpa_json_set(json, "renewed", json_boolean(site->renewed));
	if (heap && view->pooled)
		set_group(view, json, site);
	return json;
}

json_t *tpa_growth_json_sites(const struct tpa_growth_view *view)
{
	const struct tpa_growth_list *listed = tpa_growth_listed(view);
	size_t most = listed->leaks + listed->rising + MANY;
	uint64_t top = view->listing.top;
	json_t *list = json_array();

	for (size_t i = 0; i < listed->count && i < most && (!top || json_array_size(list) < top); i++)
		if (view->pooled || tpa_growth_shown(view, listed->list[i].node))
			json_array_append_new(list, json_site(view, &listed->list[i], true));
	return list;
}

/* Growth of mapped bytes by stack. */
static json_t *json_maps(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	json_t *list = json_array();

	for (size_t i = 0; i < stats->maps.count && i < MANY; i++) {
		json_t *json;

		if (!tpa_growth_shown(view, stats->maps.list[i].node))
			continue;
		json = json_site(view, &stats->maps.list[i], false);
		tpa_json_set(json, "file", json_boolean(stats->maps.list[i].file));
		tpa_json_set(json, "held_by",
			     tpa_json_string(tpa_holder_name(tpa_mapping_holder(
				     &view->listing.run->processes[view->process], view->listing.symbols[view->process],
				     stats->maps.list[i].node, stats->maps.list[i].file))));
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *json_line(const struct tpa_growth_line *line)
{
	return json_pack("{s:o, s:o, s:f, s:o, s:o, s:s}", "first_bytes", json_integer(line->first), "last_bytes",
			 json_integer(line->last), "rate", line->rate, "recent_rate",
			 line->recent > 0 ? json_real(line->recent) : json_null(), "ci95",
			 tpa_json_interval((struct tpa_interval){ line->low, line->high }), "verdict",
			 tpa_verdict_name(line->verdict, false));
}

/* Lines that add up to RSS; null if the trace does not have them. */
static json_t *json_parts(const struct tpa_growth_stats *stats)
{
	static const char *const keys[TPA_PARTS] = {
		[TPA_PART_LIVE] = "live",   [TPA_PART_ALLOCATOR] = "allocator", [TPA_PART_MAPPED] = "mapped",
		[TPA_PART_FILES] = "files", [TPA_PART_STACKS] = "stacks",	[TPA_PART_COLLECTOR] = "collector",
	};
	json_t *json = stats->parts_known ? json_object() : json_null();

	for (int part = 0; stats->parts_known && part < TPA_PARTS; part++)
		tpa_json_set(json, keys[part], json_line(&stats->parts[part]));
	return json;
}

json_t *tpa_growth_json_fine(const struct tpa_growth_stats *stats)
{
	static const char *const keys[TPA_FINE_PARTS] = {
		[TPA_FINE_LIVE] = "live",
		[TPA_FINE_ALLOCATOR] = "allocator",
		[TPA_FINE_MAPPED] = "mapped",
		[TPA_FINE_UNSEEN] = "unseen",
		[TPA_FINE_STATIC] = "static",
		[TPA_FINE_FILES] = "files",
		[TPA_FINE_SHARED] = "shared_memory",
		[TPA_FINE_STACKS] = "stacks",
		[TPA_FINE_COLLECTOR] = "collector",
	};
	json_t *json = stats->fine_known ? json_object() : json_null();

	for (int part = 0; stats->fine_known && part < TPA_FINE_PARTS; part++)
		tpa_json_set(json, keys[part], json_line(&stats->fine[part]));
	return json;
}

/* jemalloc's statistics; null if there are none. */
static json_t *json_allocator(const struct tpa_growth_stats *stats)
{
	static const char *const keys[TPA_ALLOCATOR_LINES] = {
		[TPA_ALLOCATOR_LIVE] = "live",
		[TPA_ALLOCATOR_ROUNDING] = "rounding",
		[TPA_ALLOCATOR_FRAGMENTS] = "fragmentation",
		[TPA_ALLOCATOR_FREE] = "free_pages",
		[TPA_ALLOCATOR_METADATA] = "metadata",
		[TPA_ALLOCATOR_RESIDENT] = "resident",
		[TPA_ALLOCATOR_RETAINED] = "retained",
	};
	json_t *json = stats->allocator_known ? json_object() : json_null();

	for (int line = 0; stats->allocator_known && line < TPA_ALLOCATOR_LINES; line++)
		tpa_json_set(json, keys[line], json_line(&stats->allocator[line]));
	return json;
}

/* The lines of a finding, its place first. */
static json_t *json_lines(const struct tpa_finding *finding)
{
	json_t *list = json_array();

	for (size_t i = 0; i < finding->line_count; i++) {
		json_t *json = json_object();

		tpa_json_line(json, &finding->lines[i].line, TPA_BY_LINE);
		tpa_json_set(json, "rate", json_real(finding->lines[i].rate));
		tpa_json_set(json, "stacks", tpa_json_number(finding->lines[i].stacks));
		json_array_append_new(list, json);
	}
	return list;
}

/* Units until the limit; null if no limit is set or it is never reached. */
static json_t *json_left(const struct tpa_growth_view *view, const struct tpa_finding *finding)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	int64_t now = stats->rss.last > stats->live.last ? stats->rss.last : stats->live.last;
	double left = tpa_finding_left(finding, (double)now, (double)view->limit);

	return view->limit && left >= 0 ? json_real(left) : json_null();
}

static json_t *json_findings(const struct tpa_growth_view *view)
{
	json_t *list = json_array();
	struct tpa_findings findings = { 0 };

	if (!view->pooled)
		tpa_findings_find(&findings, view, false);
	for (size_t i = 0; i < findings.count; i++) {
		const struct tpa_finding *finding = &findings.list[i];
		json_t *json = json_site(view, &finding->site, !finding->mapped);

		tpa_json_set(json, "kind",
			     json_string(finding->arenas   ? "arenas"
					 : finding->mapped ? "mapping"
							   : "heap"));
		tpa_json_set(json, "recent_rate",
			     finding->site.recent > 0 ? json_real(finding->site.recent) : json_null());
		tpa_json_set(json, "until_limit", json_left(view, finding));
		if (finding->arenas)
			tpa_json_set(json, "left_bytes", json_null());
		tpa_json_set(json, "lines", json_lines(finding));
		tpa_json_set(json, "holder", tpa_finding_holder_json(view, finding));
		json_array_append_new(list, json);
	}
	tpa_findings_free(&findings);
	return list;
}

json_t *tpa_growth_json(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_list *listed = tpa_growth_listed(view);
	json_t *json = json_object();

	tpa_json_set(json, "unit", json_string(stats->seconds ? "second" : "step"));
	tpa_json_set(json, "looks", tpa_json_number(stats->looks));
	tpa_json_set(json, "enough", json_boolean(stats->looks >= TPA_TREND_LEAST));
	tpa_json_set(json, "last", tpa_json_number(stats->last));
	tpa_json_set(json, "by", json_string(tpa_growth_series(view)));
	tpa_json_set(json, "sites_total", tpa_json_number(view->pooled ? view->pooled->count : stats->sites));
	tpa_json_set(json, "varying", tpa_json_number(view->pooled ? view->pooled->varying : stats->varying));
	tpa_json_set(json, "leaks", tpa_json_number(listed->leaks));
	tpa_json_set(json, "rising", tpa_json_number(listed->rising));
	tpa_json_set(json, "replaced", tpa_json_number(listed->replaced));
	tpa_json_set(json, "leak_rate", json_real(listed->leak_rate));
	tpa_json_set(json, "sites", tpa_growth_json_sites(view));
	tpa_json_set(json, "findings", json_findings(view));
	tpa_json_set(json, "others", json_line(&stats->others));
	tpa_json_set(json, "mappings", json_maps(view));
	tpa_json_set(json, "resident", json_parts(stats));
	tpa_json_set(json, "parts", tpa_growth_json_fine(stats));
	tpa_json_set(json, "allocator", json_allocator(stats));
	tpa_json_set(json, "memory",
		     json_pack("{s:o, s:o, s:o, s:o, s:o}", "live", json_line(&stats->live), "anonymous",
			       json_line(&stats->anonymous), "file", json_line(&stats->file), "rss",
			       json_line(&stats->rss), "rest", json_line(&stats->rest)));
	return json;
}
