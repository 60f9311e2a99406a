/* SPDX-License-Identifier: Apache-2.0 */
/* push: follows a program and the processes that it starts, and sends profiles of intervals to a server. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/now.h"
#include "commands/line/command.h"
#include "commands/line/running.h"
#include "commands/push_process.h"
#include "commands/push_queue.h"
#include "trace/related.h"

#define SECOND UINT64_C(1000000000)
#define EVERY (60 * SECOND)
#define STEP (SECOND / 20) /* between two looks at requests, and at whether the program still lives */
#define LAST (10 * SECOND) /* for what is left at the program's end */

/* One image of a process: after an exec there is another one with the same pid. */
struct followed {
	uint32_t pid;
	uint64_t ticks;			  /* its start */
	struct tpa_push_process *process; /* NULL: it has ended, and its profiles are in the queue */
};

struct push {
	const struct tpa_options *options;
	struct followed *list; /* the first is the one that was named; it stays open */
	size_t count, room;
	struct tpa_push_queue *queue;
	bool failed; /* a trace can't be followed on */
};

/* ---- processes ---- */

static bool add(struct push *push, const char *file)
{
	struct tpa_push_process *process = tpa_push_process_open(push->options, file);
	const struct tprof_header *header;

	if (!process)
		return false;
	header = tpa_push_process_trace(process)->header;
	*TPA_APPEND(push->list, push->count, push->room) =
		(struct followed){ header->pid, header->start.ticks, process };
	return true;
}

static bool is_followed(const struct push *push, const struct tprof_header *header)
{
	for (size_t i = 0; i < push->count; i++)
		if (push->list[i].pid == header->pid && push->list[i].ticks == header->start.ticks)
			return true;
	return false;
}

static bool is_started_by(const struct push *push, const struct tprof_header *header)
{
	for (size_t i = 0; i < push->count; i++)
		if (push->list[i].pid == header->pid || push->list[i].pid == header->ppid)
			return true;
	return false;
}

/* Adds what the followed processes have started; true if there was any. */
static bool add_started(struct push *push)
{
	struct tpa_others others;
	bool found = false;

	tpa_others_forget();
	tpa_others_find(tpa_push_process_trace(push->list[0].process), &others);
	for (size_t i = 0; i < others.count; i++) {
		const struct tpa_other *other = others.list[i];

		if (is_followed(push, &other->header) || !is_started_by(push, &other->header))
			continue;
		found |= add(push, other->file);
	}
	tpa_others_free(&others);
	return found;
}

static void look(struct push *push, size_t index)
{
	struct followed *followed = &push->list[index];
	const struct tpa_trace *trace;
	bool lives, good;

	if (!followed->process)
		return;
	trace = tpa_push_process_trace(followed->process);
	lives = tpa_trace_lives(trace);
	good = tpa_push_process_look(followed->process, push->queue);
	push->failed |= !good;
	if (index && !(good && lives && trace->running)) {
		tpa_push_process_close(followed->process);
		followed->process = NULL;
	}
}

static void look_at_all(struct push *push)
{
	size_t done = 0;

	do
		for (; done < push->count; done++)
			look(push, done);
	while (add_started(push));
}

/* ---- the command ---- */

static void nap(void)
{
	struct timespec time = { 0, (long)STEP };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Until the program ends, and the rest is sent. */
static void follow(struct push *push, uint64_t every)
{
	const struct tpa_trace *trace = tpa_push_process_trace(push->list[0].process);
	uint64_t next = tpa_now_ns(CLOCK_MONOTONIC), last;
	bool lives = true;

	while (lives) {
		while (tpa_now_ns(CLOCK_MONOTONIC) < next && lives) {
			tpa_push_step(push->queue);
			nap();
			lives = tpa_trace_lives(trace);
		}
		next += every;
		if (next < tpa_now_ns(CLOCK_MONOTONIC))
			next = tpa_now_ns(CLOCK_MONOTONIC) + every;
		look_at_all(push);
	}
	last = tpa_now_ns(CLOCK_MONOTONIC) + LAST;
	while (tpa_push_step(push->queue) && tpa_now_ns(CLOCK_MONOTONIC) < last)
		nap();
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

static int run(struct push *push)
{
	const struct tpa_options *options = push->options;
	struct tpa_push_counts counts;

	push->queue = tpa_push_open(options->url);
	follow(push, options->every_ns ? options->every_ns : EVERY);
	counts = tpa_push_close(push->queue);
	say(&counts, options->url);
	for (size_t i = 0; i < push->count; i++)
		tpa_push_process_close(push->list[i].process);
	free(push->list);
	if (push->failed)
		return TPA_EXIT_TRACE;
	return counts.dropped || counts.refused ? TPA_EXIT_FOUND : TPA_EXIT_OK;
}

int tpa_cmd_push(const struct tpa_options *options)
{
	struct push push = { .options = options };
	char *trace;
	bool good;

	if (!options->url || options->trace_count != 1) {
		fputs("tprof-analyze: push follows one process: push --url URL PID, or push --url URL TRACE\n", stderr);
		return TPA_EXIT_USAGE;
	}
	trace = tpa_running_trace(options->traces[0]);
	good = trace && add(&push, trace);
	free(trace);
	return good ? run(&push) : TPA_EXIT_TRACE;
}
