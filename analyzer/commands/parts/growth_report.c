/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/growth_report.h"

#include <string.h>

#include "commands/parts/site_report.h"
#include "report/text/growth_listing.h"
#include "report/text/holder_listing.h"
#include "report/text/reach_listing.h"

/* A view of one process with the data that end_view() frees. */
struct owned {
	struct tpa_growth_view view;
	struct tpa_growth_pooled pooled;
};

static void begin_view(struct owned *owned, struct tpa_session *session, size_t process, uint64_t top)
{
	const struct tpa_options *options = session->options;

	memset(&owned->pooled, 0, sizeof(owned->pooled));
	owned->view = (struct tpa_growth_view){
		.listing = { .page = &session->page,
			     .run = session->run,
			     .symbols = session->symbols,
			     .by = options->by,
			     .top = tpa_top(options, top) },
		.process = process,
		.filter = session->filter,
		.limit = options->limit,
		.suppressions = tpa_session_suppressions(session),
	};
	tpa_session_symbols(session, process);
}

/* Groups the growing stacks by the key of --by. */
static void pool(struct owned *owned, struct tpa_session *session, size_t process)
{
	struct tpa_growth_view *view = &owned->view;
	enum tpa_by by = session->options->by;

	if (!tpa_growth_pools_by(by))
		return;
	view->pooled = &owned->pooled;
	tpa_growth_pooled(&owned->pooled, &session->run->processes[process], session->symbols[process], by,
			  view->filter, view->suppressions);
}

static void end_view(struct owned *owned)
{
	tpa_suppressions_free(owned->view.suppressions);
	tpa_growth_pooled_free(&owned->pooled);
}

void tpa_growth_section_print(struct tpa_session *session, size_t process)
{
	struct owned owned;

	begin_view(&owned, session, process, 10);
	pool(&owned, session, process);
	tpa_growth_print(&owned.view);
	if (!owned.view.pooled)
		tpa_reach_print(&owned.view);
	end_view(&owned);
}

void tpa_growth_short_print(struct tpa_session *session, size_t process, uint64_t top)
{
	struct owned owned;

	begin_view(&owned, session, process, top);
	tpa_growth_print_short(&owned.view);
	end_view(&owned);
}

void tpa_leaks_answer_print(struct tpa_session *session, size_t process, uint64_t top)
{
	struct owned owned;

	begin_view(&owned, session, process, top);
	tpa_findings_answer_print(&owned.view);
	end_view(&owned);
}

json_t *tpa_leaks_answer_json(struct tpa_session *session, size_t process)
{
	struct owned owned;
	json_t *json;

	begin_view(&owned, session, process, 100);
	json = tpa_findings_answer_json(&owned.view);
	end_view(&owned);
	return json;
}

size_t tpa_leaks_count(struct tpa_session *session, size_t process)
{
	const struct tpa_growth_stats *stats = &session->run->processes[process].growth;
	struct tpa_findings findings = { NULL };
	struct owned owned;
	size_t count;

	if (!stats->heap.leaks && !stats->maps.leaks && !stats->mapped)
		return 0;
	begin_view(&owned, session, process, 1);
	if (tpa_findings_enough(&owned.view))
		tpa_findings_find(&findings, &owned.view, false);
	count = findings.leaks;
	tpa_findings_free(&findings);
	end_view(&owned);
	return count;
}

void tpa_leaks_brief_print(struct tpa_session *session, size_t process)
{
	struct owned owned;

	begin_view(&owned, session, process, 1);
	tpa_findings_brief_print(&owned.view);
	end_view(&owned);
}

void tpa_growth_section_json(struct tpa_session *session, size_t process, json_t *json)
{
	struct owned owned;

	begin_view(&owned, session, process, 100);
	pool(&owned, session, process);
	tpa_json_set(json, "growth", tpa_growth_json(&owned.view));
	tpa_json_set(json, "reachability", tpa_reach_json(&owned.view));
	tpa_json_set(json, "search", tpa_reach_search_json(&owned.view));
	end_view(&owned);
}

void tpa_growth_steps_json(struct tpa_session *session, size_t process, json_t *steps)
{
	struct owned owned;

	if (session->run->processes[process].growth.seconds)
		return;
	begin_view(&owned, session, process, 100);
	tpa_json_set(steps, "growth", tpa_growth_json_sites(&owned.view));
	end_view(&owned);
}

void tpa_holders_section_print(struct tpa_session *session, size_t process)
{
	struct owned owned;

	begin_view(&owned, session, process, 10);
	tpa_holders_print(&owned.view);
	end_view(&owned);
}

void tpa_holders_section_json(struct tpa_session *session, size_t process, json_t *json)
{
	struct owned owned;
	json_t *section;

	begin_view(&owned, session, process, 100);
	section = tpa_holders_json(&owned.view);
	json_object_update(json, section);
	json_decref(section);
	end_view(&owned);
}
