/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/live_metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/growth_report.h"
#include "commands/values.h"
#include "report/rows/sorted.h"
#include "report/text/process_listing.h"
#include "report/text/safe_stream.h"

#define OPS_MOST 100 /* ops that get a metric, those with most self time */
#define CONTENT "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct tpa_metrics {
	const char *file; /* NULL: served at a port */
	struct MHD_Daemon *server;
	pthread_mutex_t lock; /* of `text`, which the server's thread reads */
	char *text;
	size_t size;
};

/* ---- the text ---- */

/* The format's own escapes; control characters are the stream's concern. */
static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		if (*value == '\n')
			fputs("\\n", out);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

static void print_family(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void print_process(FILE *out, const struct tpa_process *process)
{
	char pid[20];

	snprintf(pid, sizeof(pid), "%" PRIu32, process->trace->header->pid);
	print_label(out, "program", tpa_program_name(process->trace));
	fputc(',', out);
	print_label(out, "pid", pid);
}

static void print_heap(FILE *out, const struct tpa_process *process)
{
	const struct tpa_point *last = process->point_count ? &process->timeline[process->point_count - 1] : NULL;
	const struct {
		const char *name, *type, *unit, *help;
		uint64_t value;
	} metrics[] = {
		{ "tprof_live_bytes", "gauge", "bytes", "Live heap blocks", process->heap.end_bytes },
		{ "tprof_peak_bytes", "gauge", "bytes", "Most live heap blocks so far", process->heap.peak_bytes },
		{ "tprof_rss_bytes", "gauge", "bytes", "Resident memory", last ? last->rss : 0 },
		{ "tprof_mapped_bytes", "gauge", "bytes", "Memory that the program mapped",
		  last ? last->mapped_bytes : 0 },
		{ "tprof_allocations", "counter", NULL, "Allocations", process->heap.allocations },
		{ "tprof_allocated_bytes", "counter", "bytes", "Requested bytes", process->heap.bytes },
		{ "tprof_steps", "counter", NULL, "Training steps", process->steps.count },
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		print_family(out, metrics[i].name, metrics[i].type, metrics[i].unit, metrics[i].help);
		fprintf(out, "%s%s{", metrics[i].name, metrics[i].type[0] == 'c' ? "_total" : "");
		print_process(out, process);
		fprintf(out, "} %" PRIu64 "\n", metrics[i].value);
	}
}

static void print_op(FILE *out, const char *name, const struct tpa_process *process, const struct tpa_op_stats *op)
{
	fprintf(out, "%s{", name);
	print_process(out, process);
	fputc(',', out);
	print_label(out, "op", op->name);
	fputs("} ", out);
}

static void print_ops(FILE *out, const struct tpa_process *process)
{
	struct tpa_op_list list;
	size_t count;

	tpa_op_list(&list, process, "self", NULL);
	tpa_op_list_join(&list);
	count = list.count < OPS_MOST ? list.count : OPS_MOST;
	print_family(out, "tprof_op_self_seconds", "counter", "seconds", "Time in an op and in no other op");
	for (size_t i = 0; i < count; i++) {
		print_op(out, "tprof_op_self_seconds_total", process, list.ops[i]);
		fprintf(out, "%.9f\n", (double)list.ops[i]->self_ns / 1e9);
	}
	print_family(out, "tprof_op_calls", "counter", NULL, "Calls of an op");
	for (size_t i = 0; i < count; i++) {
		print_op(out, "tprof_op_calls_total", process, list.ops[i]);
		fprintf(out, "%" PRIu64 "\n", list.ops[i]->calls);
	}
	free(list.ops);
}

static void print_leaks(FILE *out, struct tpa_session *session)
{
	const struct tpa_process *process = &session->run->processes[0];
	const char *name = process->growth.seconds ? "tprof_leak_bytes_per_second" : "tprof_leak_bytes_per_step";
	json_t *leaks = tpa_leaks_answer_json(session, 0), *leak;
	size_t i;

	print_family(out, name, "gauge", NULL, "What a place in the program leaks");
	json_array_foreach(leaks, i, leak) {
		json_t *rate = json_object_get(leak, process->growth.seconds ? "bytes_per_second" : "bytes_per_step");
		const json_t *frame = json_object_get(leak, "frame");
		const char *what = json_string_value(json_object_get(leak, "what")),
			   *file = json_string_value(json_object_get(frame, "file"));
		char place[1000];

		snprintf(place, sizeof(place), "%s%s%s:%" JSON_INTEGER_FORMAT, what ? what : "?", file ? " " : "",
			 file ? file : "", json_integer_value(json_object_get(frame, "line")));
		fprintf(out, "%s{", name);
		print_process(out, process);
		fputc(',', out);
		print_label(out, "place", place);
		fprintf(out, "} %.17g\n", json_number_value(rate));
	}
	json_decref(leaks);
}

static char *make_text(struct tpa_session *session, size_t *size)
{
	char *text = NULL;
	FILE *memory = open_memstream(&text, size), *out;

	tpa_need(memory != NULL);
	out = tpa_plain_open(memory, false);
	print_heap(out, &session->run->processes[0]);
	print_ops(out, &session->run->processes[0]);
	print_leaks(out, session);
	fputs("# EOF\n", out);
	fclose(out);
	return text;
}

/* ---- file and server ---- */

static bool replace_file(const char *file, const char *text, size_t size)
{
	char name[4200];
	FILE *out;
	bool good;

	snprintf(name, sizeof(name), "%s.new", file);
	out = fopen(name, "we");
	good = out && fwrite(text, 1, size, out) == size;
	good = (!out || fclose(out) == 0) && good && rename(name, file) == 0;
	if (!good)
		fprintf(stderr, "tprof-analyze: %s: can't be written: %s\n", file, strerror(errno));
	return good;
}

bool tpa_metrics_update(struct tpa_metrics *metrics, struct tpa_session *session)
{
	size_t size;
	char *text = make_text(session, &size);
	bool good = true;

	if (metrics->file) {
		good = replace_file(metrics->file, text, size);
		free(text);
		return good;
	}
	pthread_mutex_lock(&metrics->lock);
	free(metrics->text);
	metrics->text = text;
	metrics->size = size;
	pthread_mutex_unlock(&metrics->lock);
	return true;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
			      const char *version, const char *data, size_t *data_size, void **state)
{
	struct tpa_metrics *metrics = context;
	bool known = strcmp(url, "/metrics") == 0 && strcmp(method, "GET") == 0;
	static char hint[] = "see GET /metrics\n";
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)version, (void)data, (void)data_size, (void)state;
	pthread_mutex_lock(&metrics->lock);
	known = known && metrics->text;
	response = known ? MHD_create_response_from_buffer(metrics->size, metrics->text, MHD_RESPMEM_MUST_COPY)
			 : MHD_create_response_from_buffer(sizeof(hint) - 1, hint, MHD_RESPMEM_PERSISTENT);
	pthread_mutex_unlock(&metrics->lock);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", known ? CONTENT : "text/plain");
	result = MHD_queue_response(connection, known ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, response);
	MHD_destroy_response(response);
	return result;
}

struct tpa_metrics *tpa_metrics_open(const char *where)
{
	struct tpa_metrics *metrics = tpa_zalloc(1, sizeof(*metrics));
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	uint64_t port;

	pthread_mutex_init(&metrics->lock, NULL);
	if (!tpa_parse_number(where, UINT16_MAX, &port) || !port) {
		metrics->file = where;
		return metrics;
	}
	address.sin_port = htons((uint16_t)port);
	metrics->server = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, answer, metrics,
					   MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_END);
	if (metrics->server)
		return metrics;
	fprintf(stderr, "tprof-analyze: --openmetrics %s: the port can't be served: %s\n", where, strerror(errno));
	tpa_metrics_close(metrics);
	return NULL;
}

void tpa_metrics_close(struct tpa_metrics *metrics)
{
	if (!metrics)
		return;
	if (metrics->server)
		MHD_stop_daemon(metrics->server);
	pthread_mutex_destroy(&metrics->lock);
	free(metrics->text);
	free(metrics);
}
