/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/growth_report.h"

#include <string.h>

#include "commands/site_report.h"
#include "report/text/growth_listing.h"
#include "report/text/reach_listing.h"

/* A view of one process, with what belongs to it: fields that end_view() frees. */
struct owned {
	struct tp_growth_view view;
	struct tp_growth_pooled pooled;
	regex_t filter;
};

static bool begin_view(struct owned *owned, struct tp_session *session, size_t process, uint64_t top)
{
	const struct tp_options *options = session->options;
	bool filtered = options->filter && regcomp(&owned->filter, options->filter, REG_EXTENDED | REG_NOSUB) == 0;

	memset(&owned->pooled, 0, sizeof(owned->pooled));
	owned->view = (struct tp_growth_view){
		.listing = { .page = &session->page,
			     .run = session->run,
			     .symbols = session->symbols,
			     .by = options->by,
			     .top = tp_top(options, top) },
		.process = process,
		.filter = filtered ? &owned->filter : NULL,
		.limit = options->limit,
		.suppressions = tp_session_suppressions(session),
	};
	return owned->view.suppressions && tp_session_symbols(session, process);
}

/* Of the section alone, where --by asks for it. */
static bool pool(struct owned *owned, struct tp_session *session, size_t process)
{
	struct tp_growth_view *view = &owned->view;
	enum tp_by by = session->options->by;

	if (!tp_growth_pools_by(by))
		return true;
	view->pooled = &owned->pooled;
	return tp_growth_pooled(&owned->pooled, &session->run->processes[process], session->symbols[process],
				session->options->by, view->filter, view->suppressions);
}

static void end_view(struct owned *owned)
{
	if (owned->view.filter)
		regfree(&owned->filter);
	tp_suppressions_free(owned->view.suppressions);
	tp_growth_pooled_free(&owned->pooled);
}

bool tp_growth_section_print(struct tp_session *session, size_t process)
{
	struct owned owned;
	bool good = begin_view(&owned, session, process, 10) && pool(&owned, session, process);

	if (good)
		tp_growth_print(&owned.view);
	if (good && !owned.view.pooled)
		tp_reach_print(&owned.view);
	end_view(&owned);
	return good;
}

bool tp_growth_short_print(struct tp_session *session, size_t process, uint64_t top)
{
	struct owned owned;
	bool good = begin_view(&owned, session, process, top);

	if (good)
		tp_growth_print_short(&owned.view);
	end_view(&owned);
	return good;
}

bool tp_growth_section_json(struct tp_session *session, size_t process, json_t *json)
{
	struct owned owned;
	bool good = begin_view(&owned, session, process, 100) && pool(&owned, session, process);

	good = good && json_object_set_new(json, "growth", tp_growth_json(&owned.view)) == 0 &&
	       json_object_set_new(json, "reachability", tp_reach_json(&owned.view)) == 0 &&
	       json_object_set_new(json, "search", tp_reach_search_json(&owned.view)) == 0;
	end_view(&owned);
	return good;
}

bool tp_growth_steps_json(struct tp_session *session, size_t process, json_t *steps)
{
	struct owned owned;
	bool good;

	if (session->run->processes[process].growth.seconds)
		return true;
	good = begin_view(&owned, session, process, 100);
	good = good && json_object_set_new(steps, "growth", tp_growth_json_sites(&owned.view)) == 0;
	end_view(&owned);
	return good;
}
