/* SPDX-License-Identifier: Apache-2.0 */
/* push: follows a program that runs, and sends profiles of intervals to a server. The program's file is read, and nothing is written to it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/now.h"
#include "commands/line/op_names.h"
#include "commands/push_queue.h"
#include "commands/line/running.h"
#include "commands/input/session.h"
#include "export/pushed.h"
#include "model/replay/follow.h"
#include "trace/related.h"

#define SECOND UINT64_C(1000000000)
#define EVERY (60 * SECOND)
#define STEP (SECOND / 20) /* between two looks at requests, and at whether the program still lives */
#define LAST (10 * SECOND) /* for what is left at the program's end */

struct push {
	struct tpa_session session;
	struct tpa_follow follow;
	struct tpa_pushed *pushed;
	struct tpa_push_queue *queue;
	uint64_t told_ns; /* unix time up to which profiles go */
	char *error;	  /* why the trace can't be followed on */
};

/* ---- profiles ---- */

static struct tpa_export export_of(struct push *push, FILE *out)
{
	const struct tpa_options *options = push->session.options;

	return (struct tpa_export){
		.out = out,
		.traces = push->session.traces,
		.trace_count = 1,
		.run = push->session.run,
		.names = { .debug_dir = options->debug_dir,
			   .language = options->language,
			   .interpreter = options->interpreter },
	};
}

static void add_profile(struct push *push, enum tpa_pushed_kind kind, uint64_t to_ns)
{
	char *bytes = NULL;
	size_t size = 0, samples = 0;
	FILE *memory = open_memstream(&bytes, &size);
	struct tpa_export export = export_of(push, memory);
	bool good;

	tpa_need(memory != NULL);
	good = tpa_pushed_write(push->pushed, &export, kind, push->told_ns, to_ns, &samples);
	tpa_export_close(&export);
	tpa_need(fclose(memory) == 0 && good);
	if (samples)
		tpa_push_add(push->queue, bytes, size, push->told_ns / SECOND, (to_ns + SECOND - 1) / SECOND);
	else
		free(bytes);
}

/* Reads what is new, and puts its profiles into the queue. */
static bool look(struct push *push)
{
	struct tpa_session *session = &push->session;
	struct tpa_run *run;
	uint64_t now;

	tpa_session_drop_run(session);
	run = tpa_follow_look(&push->follow, &push->error);
	if (!run)
		return false;
	tpa_op_names(session->traces[0], session->options->debug_dir);
	tpa_session_take_run(session, run);
	now = run->start_unix_ns + run->duration_ns;
	if (!push->told_ns)
		push->told_ns = run->start_unix_ns;
	if (now < push->told_ns)
		now = push->told_ns;
	for (int kind = 0; kind < TPA_PUSHED_KINDS; kind++)
		add_profile(push, (enum tpa_pushed_kind)kind, now);
	push->told_ns = now;
	return true;
}

/* ---- the command ---- */

static void nap(void)
{
	struct timespec time = { 0, (long)STEP };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Until the program ends, and the rest is sent. */
static bool follow(struct push *push, uint64_t every)
{
	const struct tpa_trace *trace = push->session.traces[0];
	uint64_t next = tpa_now_ns(CLOCK_MONOTONIC), last;
	bool lives = true, good = true;

	while (lives && good) {
		while (tpa_now_ns(CLOCK_MONOTONIC) < next && lives) {
			tpa_push_step(push->queue);
			nap();
			lives = tpa_trace_lives(trace);
		}
		next += every;
		if (next < tpa_now_ns(CLOCK_MONOTONIC))
			next = tpa_now_ns(CLOCK_MONOTONIC) + every;
		good = look(push);
		lives &= trace->running;
	}
	last = tpa_now_ns(CLOCK_MONOTONIC) + LAST;
	while (tpa_push_step(push->queue) && tpa_now_ns(CLOCK_MONOTONIC) < last)
		nap();
	return good;
}

static void say(const struct tpa_push_counts *counts, const char *url)
{
	fprintf(stderr, "tprof: %" PRIu64 " profile%s pushed to %s", counts->pushed, tpa_plural(counts->pushed), url);
	if (counts->dropped)
		fprintf(stderr, "; %" PRIu64 " dropped, which it did not take in time", counts->dropped);
	if (counts->refused)
		fprintf(stderr, "; %" PRIu64 " refused", counts->refused);
	if ((counts->dropped || counts->refused) && counts->reason[0])
		fprintf(stderr, " (last: %s)", counts->reason);
	fputc('\n', stderr);
}

/* The application, with labels that tell its processes apart. */
static char *name_of(const struct tpa_trace *trace)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return tpa_format("%s{pid=%" PRIu32 ",host=%s}", tpa_started_name(trace->started, trace->exe),
			  trace->header->pid, host[0] ? host : "unknown");
}

static int run(struct push *push)
{
	const struct tpa_options *options = push->session.options;
	const struct tpa_trace *trace = push->session.traces[0];
	const struct tpa_replay_options replay = tpa_session_replay_options(&push->session, TPA_GROUP_STACK);
	char *name = name_of(trace);
	struct tpa_push_counts counts;
	bool good;

	push->queue = tpa_push_open(options->url, name);
	push->pushed = tpa_pushed_new();
	tpa_follow_begin(&push->follow, push->session.traces[0], &replay);
	good = follow(push, options->every_ns ? options->every_ns : EVERY);
	if (push->error)
		fprintf(stderr, "tprof-analyze: %s\n", push->error);
	free(push->error);
	counts = tpa_push_close(push->queue);
	say(&counts, options->url);
	tpa_follow_end(&push->follow);
	tpa_pushed_free(push->pushed);
	free(name);
	if (!good)
		return TPA_EXIT_TRACE;
	return counts.dropped || counts.refused ? TPA_EXIT_FOUND : TPA_EXIT_OK;
}

int tpa_cmd_push(const struct tpa_options *options)
{
	struct tpa_options own = *options;
	struct push push = { 0 };
	const char *names[1];
	char *trace;
	int status;

	if (!options->url || options->trace_count != 1) {
		fputs("tprof-analyze: push follows one process: push --url URL PID, or push --url URL TRACE\n", stderr);
		return TPA_EXIT_USAGE;
	}
	trace = tpa_running_trace(options->traces[0]);
	if (!trace)
		return TPA_EXIT_TRACE;
	names[0] = trace;
	own.traces = names;
	own.output = NULL;
	status = tpa_session_open(&push.session, &own);
	if (status == TPA_EXIT_OK)
		status = tpa_session_close(&push.session, run(&push));
	free(trace);
	return status;
}
