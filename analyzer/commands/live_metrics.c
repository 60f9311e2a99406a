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
#include "commands/line/values.h"
#include "export/openmetrics.h"
#include "report/rows/suppressions.h"

#define CONTENT "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct tpa_metrics {
	const char *file; /* NULL: served at a port */
	struct MHD_Daemon *server;
	pthread_mutex_t lock; /* of `text`, which the server's thread reads */
	char *text;
	size_t size;
};

/* ---- the text ---- */

static char *make_text(struct tpa_session *session, size_t *size)
{
	char *text = NULL;
	FILE *memory = open_memstream(&text, size);
	struct tpa_suppressions *suppressions = tpa_session_suppressions(session);

	tpa_need(memory != NULL);
	tpa_session_open_symbols(session);
	tpa_openmetrics_write(memory, session->run, session->symbols, session->filter, suppressions);
	tpa_suppressions_free(suppressions);
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
