/* SPDX-License-Identifier: Apache-2.0 */
/* diff: what changed from one run to another, and whether chance alone would do the same. */
#include <stdlib.h>
#include <string.h>

#include "commands/site_report.h"
#include "report/cpu_listing.h"
#include "report/diff_json.h"
#include "report/diff_listing.h"

/* The process of a trace: those of a run are in order of their start, not of the command line. */
static size_t process_of(const struct tp_session *session, size_t trace)
{
	size_t i = 0;

	while (i + 1 < session->run->process_count && session->run->processes[i].trace != session->traces[trace])
		i++;
	return i;
}

static json_t *sites_of(struct tp_session *session, size_t process, enum tp_what what, enum tp_json_sites shape)
{
	/* Not by stack: of a large program that is gigabytes of names. */
	enum tp_by by = session->options->by_set ? session->options->by : TP_BY_FUNCTION;
	struct tp_rows *rows = tp_session_rows(session, process, by, what, "bytes", NULL);
	json_t *json = rows ? tp_json_rows(session->run, session->symbols, rows, by, shape, 0) : NULL;

	tp_rows_free(rows);
	return json;
}

static bool sites(struct tp_session *session, const size_t process[2], struct tp_diff *diff)
{
	static const struct {
		const char *key;
		enum tp_what what;
		enum tp_json_sites shape;
	} kinds[] = { { "peak", TP_WHAT_PEAK, TP_JSON_PEAK },
		      { "unfreed", TP_WHAT_UNFREED, TP_JSON_UNFREED },
		      { "allocated", TP_WHAT_ALLOCATED, TP_JSON_HOT } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		json_t *old_rows = sites_of(session, process[0], kinds[i].what, kinds[i].shape);
		json_t *new_rows = sites_of(session, process[1], kinds[i].what, kinds[i].shape);
		bool good = tp_diff_sites(diff, kinds[i].key, old_rows, new_rows);

		json_decref(old_rows);
		json_decref(new_rows);
		if (!good)
			return false;
	}
	return true;
}

static struct tp_cpu_rows *cpu_of(struct tp_session *session, size_t process)
{
	struct tp_cpu_options options = { .by = TP_BY_FUNCTION };
	struct tp_cpu_builder *builder = tp_cpu_rows_begin(&options);

	if (!builder)
		return NULL;
	if (tp_cpu_rows_add(builder, &session->run->processes[process], process, session->symbols[process]))
		return tp_cpu_rows_end(builder);
	tp_cpu_rows_free(tp_cpu_rows_end(builder));
	return NULL;
}

static bool cpu(struct tp_session *session, const size_t process[2], struct tp_diff *diff)
{
	struct tp_cpu_listing listing = { .page = &session->page,
					  .run = session->run,
					  .symbols = session->symbols,
					  .options = { .by = TP_BY_FUNCTION } };
	struct tp_cpu_rows *rows[2] = { cpu_of(session, process[0]), cpu_of(session, process[1]) };
	bool good = rows[0] && rows[1];

	if (good) {
		json_t *old_rows = tp_cpu_json(&listing, rows[0]), *new_rows = tp_cpu_json(&listing, rows[1]);

		good = tp_diff_cpu(diff, &rows[0]->all, old_rows, &rows[1]->all, new_rows);
		json_decref(old_rows);
		json_decref(new_rows);
	}
	tp_cpu_rows_free(rows[0]);
	tp_cpu_rows_free(rows[1]);
	return good;
}

static json_t *diff_of(struct tp_session *session)
{
	size_t process[2] = { process_of(session, 0), process_of(session, 1) };
	struct tp_diff diff = { 0 };

	if (!tp_session_symbols(session, process[0]) || !tp_session_symbols(session, process[1]))
		return NULL;
	if (tp_diff_begin(&diff, &session->run->processes[process[0]], &session->run->processes[process[1]]) &&
	    cpu(session, process, &diff) && sites(session, process, &diff))
		return tp_diff_end(&diff, tp_top(session->options, 10));
	tp_diff_drop(&diff);
	return NULL;
}

int tp_cmd_diff(const struct tp_options *options)
{
	struct tp_session session;
	json_t *json;
	int status;

	if (options->trace_count != 2) {
		fprintf(stderr, "tprof-analyze: diff: %zu trace%s given; it takes two: diff OLD NEW\n",
			options->trace_count, options->trace_count == 1 ? "" : "s");
		return TP_EXIT_USAGE;
	}
	status = tp_session_open(&session, options);
	if (status == TP_EXIT_OK)
		status = tp_session_replay(&session, TP_GROUP_STACK);
	if (status != TP_EXIT_OK)
		return status;
	json = diff_of(&session);
	if (!json) {
		fputs("tprof-analyze: out of memory\n", stderr);
		return tp_session_close(&session, TP_EXIT_TRACE);
	}
	if (options->json) {
		tp_json_write(json, session.page.out);
	} else {
		tp_diff_print(&session.page, json);
		json_decref(json);
	}
	return tp_session_close(&session, TP_EXIT_OK);
}
