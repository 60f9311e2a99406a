/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/cpu_report.h"

#include "commands/parts/site_report.h"
#include "report/text/coverage.h"
#include "report/text/cpu_listing.h"

static struct tpa_cpu_listing listing_of(const struct tpa_session *session, enum tpa_relation relation)
{
	const struct tpa_options *options = session->options;
	struct tpa_cpu_listing listing = {
		.page = &session->page,
		.run = session->run,
		.symbols = session->symbols,
		.options = {
			.by = options->by_set && (options->by < TPA_BY_SIZE || options->by == TPA_BY_OP)
				      ? options->by
				      : TPA_BY_FUNCTION,
			.relation = relation,
			.function = options->function,
		},
		.top = tpa_top(options, 10),
	};

	return listing;
}

static struct tpa_cpu_rows *read_rows(struct tpa_session *session, size_t process,
				      const struct tpa_cpu_options *options)
{
	bool all = process == session->run->process_count;
	struct tpa_cpu_options mine = *options;
	struct tpa_cpu_builder *builder;

	mine.filter = session->filter;
	builder = tpa_cpu_rows_begin(&mine);
	for (size_t i = all ? 0 : process; i < (all ? process : process + 1); i++)
		tpa_cpu_rows_add(builder, &session->run->processes[i], i, tpa_session_symbols(session, i));
	return tpa_cpu_rows_end(builder);
}

static void headline(const struct tpa_session *session, size_t process)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_options *options = session->options;

	if (options->relation == TPA_RELATION_CALLERS)
		tpa_headline(page, "CPU time of %s, by its callers", options->function);
	else if (options->relation == TPA_RELATION_CALLEES)
		tpa_headline(page, "CPU time of %s, by its callees", options->function);
	else
		tpa_headline(page, process == session->run->process_count ? "CPU time of all processes together"
									  : "CPU time");
	if (process == session->run->process_count)
		return;
	tpa_cpu_print_capture(page, &session->run->processes[process]);
	fputc('\n', page->out);
}

void tpa_cpu_section_print(struct tpa_session *session, size_t process)
{
	const struct tpa_options *options = session->options;
	const struct tpa_page *page = &session->page;
	struct tpa_cpu_listing listing = listing_of(session, options->relation);
	struct tpa_cpu_rows *rows = read_rows(session, process, &listing.options);

	headline(session, process);
	if (options->relation && rows->all.samples)
		fprintf(page->out, "%s in %s sample%s contain it: shares are of these\n", tpa_time(rows->all_ns).text,
			tpa_count(rows->all.samples).text, tpa_plural(rows->all.samples));
	else if (options->relation)
		fprintf(page->out, "no sample met %s: name the function as hotspots lists it\n", options->function);
	if (options->relation && rows->all.samples && !rows->count)
		fputs("it is an op that the program annotates itself: ops --tree shows which ops call it\n", page->out);
	if (rows->count)
		fputc('\n', page->out);
	tpa_cpu_print(&listing, rows);
	tpa_cpu_rows_free(rows);
}

void tpa_cpu_short_print(struct tpa_session *session, size_t process, uint64_t top)
{
	struct tpa_cpu_listing listing = listing_of(session, TPA_RELATION_NONE);
	struct tpa_cpu_rows *rows = read_rows(session, process, &listing.options);

	listing.top = tpa_top(session->options, top);
	if (rows->count)
		tpa_headline(&session->page, "Where the CPU time went");
	tpa_cpu_print(&listing, rows);
	tpa_cpu_rows_free(rows);
}

static json_t *json_relation(struct tpa_session *session, size_t process)
{
	struct tpa_cpu_listing listing = listing_of(session, session->options->relation);
	struct tpa_cpu_rows *rows = read_rows(session, process, &listing.options);
	json_t *json = json_object();

	tpa_json_set(json, "function", tpa_json_string(session->options->function));
	tpa_json_set(json, "samples", tpa_json_number(rows->all.samples));
	tpa_json_set(json, "ns", tpa_json_number(rows->all_ns));
	tpa_json_set(json, "rows", tpa_cpu_json(&listing, rows));
	tpa_cpu_rows_free(rows);
	return json;
}

void tpa_cpu_section_json(struct tpa_session *session, size_t process, json_t *json)
{
	enum tpa_relation relation = session->options->relation;
	struct tpa_cpu_listing listing = listing_of(session, TPA_RELATION_NONE);
	struct tpa_cpu_rows *rows = read_rows(session, process, &listing.options);

	tpa_json_set(json, "cpu", tpa_cpu_json(&listing, rows));
	tpa_cpu_rows_free(rows);
	if (relation)
		tpa_json_set(json, relation == TPA_RELATION_CALLERS ? "callers" : "callees",
			     json_relation(session, process));
}
