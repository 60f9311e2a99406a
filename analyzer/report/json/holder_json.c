/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps blocks alive. */
#include <stdlib.h>

#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/findings.h"
#include "report/rows/holder_rows.h"

static json_t *json_link(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_holder_link *link)
{
	char type[400];

	if (link->type[0])
		snprintf(type, sizeof(type), "%s", link->type);
	else
		tpa_holder_type(trace, symbols, link, type, sizeof(type));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name",
			 link->name[0] ? tpa_json_string(link->name) : json_null(), "type",
			 type[0] ? tpa_json_string(type) : json_null(), "count", tpa_json_number(link->count), "items",
			 link->items ? tpa_json_number(link->items) : json_null(), "retained_bytes",
			 tpa_json_number(link->bytes), "retained_blocks", tpa_json_number(link->blocks));
}

static json_t *json_links(const struct tpa_trace *trace, struct tpa_symbols *symbols,
			  const struct tpa_holder_path *path)
{
	json_t *list = json_array();

	for (size_t i = 0; i < path->count; i++)
		json_array_append_new(list, json_link(trace, symbols, path->links[i]));
	return list;
}

static json_t *json_holder(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_held *held)
{
	const char *root = NULL;
	struct tpa_holder_path path = { .count = 0 };
	bool known = tpa_holder_path(trace, held, &path);
	json_t *json = json_object();
	json_int_t own;

	if (known)
		root = tpa_holder_root(path.links[0]->kind);
	else
		path.count = 0;
	tpa_json_set(json, "root",
		     root ? json_pack("{s:s, s:o}", "kind", root, "name", tpa_json_string(path.links[0]->name))
			  : json_null());
	tpa_json_set(json, "path", json_links(trace, symbols, &path));
	tpa_json_set(json, "holder", known ? json_integer((json_int_t)path.holder) : json_null());
	tpa_json_set(json, "bytes", tpa_json_number(held->all_bytes));
	tpa_json_set(json, "blocks", tpa_json_number(held->all_blocks));
	tpa_json_set(json, "held_bytes", tpa_json_number(held->bytes));
	tpa_json_set(json, "held_blocks", tpa_json_number(held->blocks));
	tpa_json_set(json, "retained_bytes", known ? tpa_json_number(path.links[path.holder]->bytes) : json_null());
	tpa_json_set(json, "retained_blocks", known ? tpa_json_number(path.links[path.holder]->blocks) : json_null());
	if (held->what == TPROF_HELD_STACK)
		tpa_json_set(json, "stack", tpa_json_stack(trace, symbols, held->node, NULL, &own));
	return json;
}

json_t *tpa_finding_holder_json(const struct tpa_growth_view *view, const struct tpa_finding *finding)
{
	const struct tpa_trace *trace = view->listing.run->processes[view->process].trace;
	const struct tpa_held *held =
		finding->mapped ? NULL : tpa_held_find(trace, finding->site.node, finding->site.op);
	struct tpa_holder_path path;

	return held && tpa_holder_path(trace, held, &path)
		       ? json_links(trace, view->listing.symbols[view->process], &path)
		       : json_array();
}

static json_t *json_list(const struct tpa_growth_view *view, enum tprof_held what)
{
	const struct tpa_trace *trace = view->listing.run->processes[view->process].trace;
	size_t count, shown = 0;
	const struct tpa_held **list = tpa_held_list(trace, what, &count);
	json_t *json = json_array();

	for (size_t i = 0; i < count && (!view->listing.top || shown < view->listing.top); i++) {
		if (what == TPROF_HELD_STACK && !tpa_growth_shown(view, list[i]->node))
			continue;
		json_array_append_new(json, json_holder(trace, view->listing.symbols[view->process], list[i]));
		shown++;
	}
	free(list);
	return json;
}

json_t *tpa_holders_json(const struct tpa_growth_view *view)
{
	const struct tpa_trace *trace = view->listing.run->processes[view->process].trace;
	const struct tpa_holders_search *search = &trace->holders;
	json_t *json = json_object();

	tpa_json_set(json, "holders", json_list(view, TPROF_HELD_STACK));
	tpa_json_set(json, "largest_holders", json_list(view, TPROF_HELD_LARGEST));
	tpa_json_set(json, "holders_search",
		     !search->ticks
			     ? json_null()
			     : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "time_ns",
					 tpa_json_number(tpa_trace_ns(trace, search->ticks)), "blocks",
					 tpa_json_number(search->blocks), "bytes", tpa_json_number(search->bytes),
					 "reached", tpa_json_number(search->reached), "pointers",
					 tpa_json_number(search->pointers), "interior",
					 tpa_json_number(search->interior), "search_ns", tpa_json_number(search->ns),
					 "search_bytes", tpa_json_number(search->memory), "left_out",
					 tpa_json_number(search->left_out)));
	return json;
}
