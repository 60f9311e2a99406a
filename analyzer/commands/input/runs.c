/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/input/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/input/file_runs.h"

struct run {
	const char **files; /* names are borrowed */
	size_t count;
};

struct runs {
	struct run *list; /* in the order of their first files */
	size_t count;
};

/* A process's lifetime, from its file's header. */
struct life {
	uint32_t pid, ppid;
	uint64_t identity;		    /* tpa_file_run.run; 0: the trace is older than run identities */
	uint64_t process_start, begin, end; /* ns; end: the last known sign of life */
	bool ended;			    /* `end` is the exact end */
	bool forked;			    /* by ppid, which may have ended since */
	size_t run;			    /* index of its run's first file */
};

static struct life life_of(const struct tpa_file_run *file, size_t number)
{
	const struct tprof_header *header = &file->header;
	struct life life = { .run = number };

	if (!file->readable)
		return life;
	life.identity = file->run;
	life.pid = header->pid;
	life.ppid = header->ppid;
	life.forked = header->origin == TPROF_ORIGIN_FORK;
	life.process_start = header->process_start;
	life.begin = header->start.unix_ns;
	life.end = header->finish.unix_ns > header->latest.unix_ns ? header->finish.unix_ns : header->latest.unix_ns;
	life.ended = header->finish.unix_ns != 0;
	return life;
}

static bool lived_at(const struct life *life, uint64_t moment)
{
	return life->begin <= moment && moment <= life->end;
}

/* The end of a killed parent is unknown; and a fork may outlive its parent before its first event. */
static bool is_child(const struct life *child, const struct life *parent)
{
	return child->ppid == parent->pid &&
	       (lived_at(parent, child->begin) || ((!parent->ended || child->forked) && parent->begin <= child->begin));
}

static bool same_run(const struct life *a, const struct life *b)
{
	if (!a->pid || !b->pid)
		return false;
	if (a->identity || b->identity)
		return a->identity == b->identity;
	if (a->pid == b->pid)
		return a->process_start == b->process_start; /* the same process before and after an exec */
	return is_child(a, b) || is_child(b, a) ||
	       (a->ppid == b->ppid && (lived_at(a, b->begin) || lived_at(b, a->begin)));
}

/* Joins the runs of two files under the lower number. */
static void join(struct life *lives, size_t count, size_t one, size_t other)
{
	size_t low = one < other ? one : other, high = one < other ? other : one;

	for (size_t i = 0; i < count; i++)
		if (lives[i].run == high)
			lives[i].run = low;
}

static void collect(const char *const *files, const struct life *lives, size_t count, struct runs *runs)
{
	for (size_t first = 0; first < count; first++) {
		struct run *run = &runs->list[runs->count];

		if (lives[first].run != first)
			continue;
		run->files = tpa_zalloc(count, sizeof(*run->files));
		runs->count++;
		for (size_t i = first; i < count; i++)
			if (lives[i].run == first)
				run->files[run->count++] = files[i];
	}
}

static void free_runs(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free((void *)runs->list[i].files);
	free(runs->list);
	*runs = (struct runs){ NULL, 0 };
}

/* An unreadable file is a run of its own: opening it later reports the error. */
static void find_runs(const char *const *files, size_t count, struct runs *runs)
{
	struct life *lives = tpa_zalloc(count, sizeof(*lives));
	struct tpa_file_run *headers = tpa_file_runs(files, count);

	*runs = (struct runs){ tpa_zalloc(count, sizeof(*runs->list)), 0 };
	for (size_t i = 0; i < count; i++)
		lives[i] = life_of(&headers[i], i);
	free(headers);
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			if (same_run(&lives[i], &lives[k]))
				join(lives, count, lives[i].run, lives[k].run);
	collect(files, lives, count, runs);
	free(lives);
}

static int replay(const struct tpa_options *options, const struct run *run, tpa_run_taker *take, void *context)
{
	struct tpa_options own = *options;
	struct tpa_session session;
	int status;

	own.traces = run->files;
	own.trace_count = run->count;
	own.output = NULL;
	status = tpa_session_start(&session, &own, TPA_GROUP_STACK);
	if (status != TPA_EXIT_OK)
		return status;
	take(&session, context);
	return tpa_session_close(&session, status);
}

int tpa_runs_each(const struct tpa_options *options, const char *const *files, size_t count, tpa_run_taker *take,
		  void *context)
{
	int status = TPA_EXIT_OK;
	struct runs runs;

	find_runs(files, count, &runs);
	for (size_t i = 0; status == TPA_EXIT_OK && i < runs.count; i++)
		status = replay(options, &runs.list[i], take, context);
	free_runs(&runs);
	return status;
}

int tpa_page_open(struct tpa_session *session, const struct tpa_options *options)
{
	struct tpa_options own = *options;
	int status;

	own.trace_count = 0;
	status = tpa_session_open(session, &own);
	session->options = options;
	return status;
}
