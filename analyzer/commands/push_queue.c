/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/push_queue.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/now.h"

#define SECOND UINT64_C(1000000000)
#define BYTES_MOST (32u << 20) /* of profiles that wait */
#define COUNT_MOST 4096u
#define REQUEST_MOST "10" /* seconds */
#define GUARD (15 * SECOND)
#define RETRY_LEAST SECOND
#define RETRY_MOST (60 * SECOND)
#define ASKED_MOST 300u /* seconds of Retry-After that are kept to */

extern char **environ;

struct item {
	struct item *next;
	char *url; /* up to its times */
	void *bytes;
	size_t size;
	uint64_t from, until;
};

struct tpa_push_queue {
	const char *url;
	struct item *first, **last; /* the first is the oldest, and the one that is sent */
	size_t count, bytes;
	pid_t child; /* 0: none */
	int answer;  /* reads what it says */
	uint64_t began, next, retry;
	struct tpa_push_counts counts;
};

/* How servers are to add these values up, as Pyroscope's documentation of /ingest describes it. */
static const char type_config[] =
	"{\"alloc_objects\":{\"units\":\"objects\",\"aggregation\":\"sum\",\"display-name\":\"alloc_objects\","
	"\"sampled\":false},"
	"\"alloc_space\":{\"units\":\"bytes\",\"aggregation\":\"sum\",\"display-name\":\"alloc_space\",\"sampled\":"
	"false},"
	"\"inuse_objects\":{\"units\":\"objects\",\"aggregation\":\"average\",\"display-name\":\"inuse_objects\","
	"\"sampled\":false},"
	"\"inuse_space\":{\"units\":\"bytes\",\"aggregation\":\"average\",\"display-name\":\"inuse_space\",\"sampled\":"
	"false},"
	"\"samples\":{\"units\":\"samples\",\"aggregation\":\"sum\",\"display-name\":\"samples\",\"sampled\":true},"
	"\"cpu\":{\"units\":\"samples\",\"aggregation\":\"sum\",\"display-name\":\"cpu\",\"sampled\":true}}";

/* ---- addresses ---- */

static char *percent(const char *text)
{
	char *out = tpa_zalloc(3 * strlen(text) + 1, 1), *to = out;

	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			*to++ = *text;
		else
			to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*text);
	return out;
}

static char *make_url(const char *url, const char *name)
{
	const char *host = strstr(url, "://"), *query = strchr(url, '?');
	bool path = strchr(host ? host + 3 : url, '/') != NULL, root = url[strlen(url) - 1] == '/';
	bool named = query && (strstr(query, "?name=") || strstr(query, "&name="));
	char *coded = percent(name), *made;

	made = tpa_format("%s%s%cformat=pprof&spyName=tprof%s%s", url,
			  query	  ? ""
			  : !path ? "/ingest"
			  : root  ? "ingest"
				  : "",
			  query ? '&' : '?', named ? "" : "&name=", named ? "" : coded);
	free(coded);
	return made;
}

struct tpa_push_queue *tpa_push_open(const char *url)
{
	struct tpa_push_queue *queue = tpa_zalloc(1, sizeof(*queue));

	queue->url = url;
	queue->last = &queue->first;
	queue->retry = RETRY_LEAST;
	return queue;
}

/* ---- the list ---- */

static void remove_item(struct tpa_push_queue *queue, struct item **at)
{
	struct item *item = *at;

	*at = item->next;
	if (queue->last == &item->next)
		queue->last = at;
	queue->count--;
	queue->bytes -= item->size;
	free(item->url);
	free(item->bytes);
	free(item);
}

void tpa_push_add(struct tpa_push_queue *queue, const char *name, void *bytes, size_t size, uint64_t from,
		  uint64_t until)
{
	struct item *item = tpa_zalloc(1, sizeof(*item));

	*item = (struct item){
		.url = make_url(queue->url, name), .bytes = bytes, .size = size, .from = from, .until = until
	};
	*queue->last = item;
	queue->last = &item->next;
	queue->count++;
	queue->bytes += size;
	while (queue->count > 1 && (queue->count > COUNT_MOST || queue->bytes > BYTES_MOST)) {
		struct item **oldest = queue->child ? &queue->first->next : &queue->first;

		if (!*oldest)
			break;
		remove_item(queue, oldest);
		queue->counts.dropped++;
	}
}

/* ---- requests ---- */

/* A file that only has a number, at which curl will find it. */
static int make_file(const void *bytes, size_t size)
{
	int file = memfd_create("tprof-push", MFD_CLOEXEC), high;

	if (file < 0)
		return -1;
	high = fcntl(file, F_DUPFD_CLOEXEC, 10);
	close(file);
	if (high >= 0 && write(high, bytes, size) == (ssize_t)size)
		return high;
	if (high >= 0)
		close(high);
	return -1;
}

/* A text in the quotes of curl's configuration. */
static void put_quoted(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text && *text != '\n' && *text != '\r'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
	fputs("\"\n", file);
}

/* What may hold secrets is not on a command line, which others can read. */
static int make_config(const struct tpa_push_queue *queue)
{
	const struct item *item = queue->first;
	const char *header = getenv("TPROF_PUSH_HEADER");
	char *text = NULL, *url;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int made;

	tpa_need(file != NULL);
	url = tpa_format("%s&from=%" PRIu64 "&until=%" PRIu64, item->url, item->from, item->until);
	fputs("url = ", file);
	put_quoted(file, url);
	if (header && *header) {
		fputs("header = ", file);
		put_quoted(file, header);
	}
	fputs("silent\nshow-error\noutput = \"/dev/null\"\nconnect-timeout = 5\nmax-time = " REQUEST_MOST "\n"
	      "form = \"profile=@/dev/fd/4;filename=profile.pb.gz;type=application/octet-stream\"\n"
	      "form = \"sample_type_config=@/dev/fd/5;filename=types.json;type=application/json\"\n"
	      "write-out = \"\\n@%{http_code} %header{retry-after}\\n\"\n",
	      file);
	fclose(file);
	made = make_file(text, size);
	free(text);
	free(url);
	return made;
}

static int spawn(struct tpa_push_queue *queue, const int files[4])
{
	char *words[] = { "curl", "-q", "-K", "/dev/fd/3", NULL };
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, files[3], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, files[3], STDERR_FILENO);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, files[i], 3 + i);
	error = posix_spawnp(&queue->child, "curl", &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		queue->child = 0;
	return error;
}

static void set_reason(struct tpa_push_queue *queue, const char *text)
{
	snprintf(queue->counts.reason, sizeof(queue->counts.reason), "%.*s", (int)strcspn(text, "\n"), text);
}

/* Tries again later: after twice the time of the last try, or when the server said. */
static void put_off(struct tpa_push_queue *queue, uint64_t asked)
{
	uint64_t wait = asked ? (asked < ASKED_MOST ? asked : ASKED_MOST) * SECOND : queue->retry;

	queue->next = tpa_now_ns(CLOCK_MONOTONIC) + wait;
	queue->retry = 2 * queue->retry < RETRY_MOST ? 2 * queue->retry : RETRY_MOST;
}

static void begin(struct tpa_push_queue *queue)
{
	const struct item *item = queue->first;
	int ends[2] = { -1, -1 }, error = EMFILE;
	int files[4] = { make_config(queue), make_file(item->bytes, item->size),
			 make_file(type_config, sizeof(type_config) - 1), -1 };

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0)
		files[3] = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
	if (files[0] >= 0 && files[1] >= 0 && files[2] >= 0 && files[3] >= 0)
		error = spawn(queue, files);
	for (int i = 0; i < 4; i++)
		if (files[i] >= 0)
			close(files[i]);
	if (ends[1] >= 0)
		close(ends[1]);
	queue->answer = ends[0];
	queue->began = tpa_now_ns(CLOCK_MONOTONIC);
	if (!error)
		return;
	if (ends[0] >= 0)
		close(ends[0]);
	set_reason(queue, error == ENOENT ? "curl is not installed" : strerror(error));
	put_off(queue, 0);
}

/* Takes the answer: "what went wrong\n@CODE SECONDS\n". */
static void finish(struct tpa_push_queue *queue)
{
	char text[600], *mark;
	ssize_t got = read(queue->answer, text, sizeof(text) - 1);
	unsigned code = 0, asked = 0;

	close(queue->answer);
	queue->child = 0;
	text[got > 0 ? got : 0] = '\0';
	mark = strstr(text, "\n@");
	if (mark) {
		sscanf(mark, "\n@%u %u", &code, &asked);
		*mark = '\0';
	}
	if (code >= 200 && code < 300) {
		remove_item(queue, &queue->first);
		queue->counts.pushed++;
		queue->retry = RETRY_LEAST;
		queue->next = 0;
		return;
	}
	if (code)
		snprintf(queue->counts.reason, sizeof(queue->counts.reason), "the server answered %u", code);
	else
		set_reason(queue, text[0] ? text : "curl ended without an answer");
	if (code >= 300 && code < 500 && code != 408 && code != 429) {
		remove_item(queue, &queue->first);
		queue->counts.refused++;
	} else {
		put_off(queue, asked);
	}
}

bool tpa_push_step(struct tpa_push_queue *queue)
{
	uint64_t now = tpa_now_ns(CLOCK_MONOTONIC);

	if (queue->child && now > queue->began + GUARD)
		kill(queue->child, SIGKILL);
	if (queue->child && waitpid(queue->child, NULL, WNOHANG) != 0)
		finish(queue);
	if (!queue->child && queue->first && now >= queue->next)
		begin(queue);
	return queue->first != NULL;
}

struct tpa_push_counts tpa_push_close(struct tpa_push_queue *queue)
{
	struct tpa_push_counts counts;

	if (queue->child) {
		kill(queue->child, SIGKILL);
		waitpid(queue->child, NULL, 0);
		close(queue->answer);
		queue->child = 0;
	}
	queue->counts.dropped += queue->count;
	while (queue->first)
		remove_item(queue, &queue->first);
	counts = queue->counts;
	free(queue);
	return counts;
}
