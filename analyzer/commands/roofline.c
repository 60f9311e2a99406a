/* SPDX-License-Identifier: Apache-2.0 */
/* roofline: this machine's limits, and how close each op came to them. */
#include <stdlib.h>
#include <string.h>

#include "commands/input/machine_file.h"
#include "commands/parts/site_report.h"
#include "report/export/roof_svg.h"
#include "report/json/json.h"
#include "report/json/json_writer.h"
#include "report/text/coverage.h"
#include "report/text/op_listing.h"
#include "report/text/process_listing.h"
#include "report/text/roof_listing.h"

struct roofs {
	struct tpa_machine machine;
	struct tpa_roof_place *places; /* of one process */
	size_t count;
};

static void place(struct roofs *roofs, const struct tpa_process *process)
{
	free(roofs->places);
	roofs->places = tpa_roof_places(&roofs->machine, process, &roofs->count);
}

static void print_text(struct tpa_session *session, struct roofs *roofs)
{
	const struct tpa_page *page = &session->page;

	tpa_machine_print(page, &roofs->machine);
	for (size_t i = 0; session->run && i < session->run->process_count; i++) {
		const struct tpa_process *process = &session->run->processes[i];

		fputc('\n', page->out);
		tpa_process_print(process, page);
		tpa_scope_print(session);
		place(roofs, process);
		fprintf(page->out, "  roofs of %u core%s\n", tpa_roof_cores(&roofs->machine, process),
			tpa_plural(tpa_roof_cores(&roofs->machine, process)));
		tpa_roof_print(page, roofs->places, roofs->count, tpa_top(session->options, 20));
		tpa_utilisation_print(page, &roofs->machine, process);
		tpa_work_known_print(page, process);
		tpa_coverage_print(page, process);
	}
}

struct making {
	struct tpa_session *session;
	struct roofs *roofs;
};

static json_t *make_process(void *context, size_t index)
{
	const struct making *making = context;
	const struct tpa_session *session = making->session;
	const struct tpa_process *process = &session->run->processes[index];
	struct roofs *roofs = making->roofs;
	json_t *json = json_object();

	place(roofs, process);
	tpa_json_set(json, "process", tpa_json_process(process));
	tpa_json_set(json, "capture", tpa_json_capture(process));
	tpa_json_set(json, "roof_cores", tpa_json_number(tpa_roof_cores(&roofs->machine, process)));
	tpa_json_set(json, "roofline", tpa_roof_json(roofs->places, roofs->count, tpa_top(session->options, 0)));
	tpa_json_set(json, "utilisation", tpa_utilisation_json(&roofs->machine, process));
	tpa_json_set(json, "torch_work", tpa_work_known_json(process));
	return json;
}

static void print_json(struct tpa_session *session, struct roofs *roofs)
{
	struct making making = { session, roofs };
	struct tpa_json_writer writer;

	tpa_json_begin(&writer, session->page.out);
	tpa_json_put(&writer, "machine", tpa_machine_rates_json(&roofs->machine));
	if (session->run)
		tpa_json_put_each(&writer, "processes", session->run->process_count, make_process, &making);
	tpa_json_end(&writer);
}

/* Draws one picture: the process with the most time in ops that have a place. */
static void print_svg(struct tpa_session *session, struct roofs *roofs)
{
	const struct tpa_process *best = &session->run->processes[0];
	double most = -1;
	char title[256];

	for (size_t i = 0; i < session->run->process_count; i++) {
		const struct tpa_process *process = &session->run->processes[i];
		double time = 0;

		place(roofs, process);
		for (size_t k = 0; k < roofs->count; k++)
			time += roofs->places[k].time_ns;
		if (time > most) {
			most = time;
			best = process;
		}
	}
	place(roofs, best);
	snprintf(title, sizeof(title), "%.120s: roofline, %.80s, %u of %u cores", best->trace->exe, roofs->machine.cpu,
		 tpa_roof_cores(&roofs->machine, best), roofs->machine.cores);
	tpa_roof_svg(&roofs->machine, tpa_roof_cores(&roofs->machine, best), roofs->places, roofs->count, title,
		     session->page.out);
	tpa_session_say_browser(session);
}

static bool wants_svg(const struct tpa_options *options)
{
	const char *dot = options->output ? strrchr(options->output, '.') : NULL;

	return dot && strcmp(dot, ".svg") == 0;
}

int tpa_cmd_roofline(const struct tpa_options *options)
{
	struct roofs roofs = { .places = NULL };
	struct tpa_session session;
	int status;

	if (wants_svg(options) && !options->trace_count) {
		fputs("tprof-analyze: a picture is of a run: name a trace\n", stderr);
		return TPA_EXIT_USAGE;
	}
	status = tpa_session_open(&session, options); /* report a bad trace before measuring the machine */
	if (status == TPA_EXIT_OK && options->trace_count)
		status = tpa_session_replay(&session, TPA_GROUP_STACK);
	if (status != TPA_EXIT_OK)
		return status;
	status = tpa_machine_get(options, &roofs.machine);
	if (status != TPA_EXIT_OK)
		return tpa_session_close(&session, status);
	if (wants_svg(options))
		print_svg(&session, &roofs);
	else
		(options->json ? print_json : print_text)(&session, &roofs);
	free(roofs.places);
	return tpa_session_close(&session, TPA_EXIT_OK);
}
