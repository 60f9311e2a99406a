/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/input/file_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ranks/job.h"

/* A run that is one rank of a job. */
struct rank {
	uint64_t run, begin, end; /* unix ns */
	struct tpa_rank_process job;
	char *text; /* of the job */
	bool several;
};

struct ranks {
	struct rank *list;
	size_t count;
};

static uint64_t end_of(const struct tprof_header *header)
{
	return header->finish.unix_ns > header->latest.unix_ns ? header->finish.unix_ns : header->latest.unix_ns;
}

static struct rank *rank_of(struct ranks *ranks, uint64_t run)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->list[i].run == run)
			return &ranks->list[i];
	return NULL;
}

static void add_file(struct ranks *ranks, const char *path, const struct tpa_file_run *file)
{
	struct rank *known = rank_of(ranks, file->run);
	struct rank rank = { .run = file->run, .begin = file->header.start.unix_ns, .end = end_of(&file->header) };

	rank.text = tpa_job_peek(path, &file->header, &rank.job);
	if (!rank.text || rank.job.world_rank == TPA_COMM_UNKNOWN) {
		free(rank.text);
		return;
	}
	if (!known) {
		ranks->list[ranks->count++] = rank;
		return;
	}
	known->several |= known->job.world_rank != rank.job.world_rank;
	known->begin = rank.begin < known->begin ? rank.begin : known->begin;
	known->end = rank.end > known->end ? rank.end : known->end;
	free(rank.text);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* torchrun calls a job "none" that was given no name. */
static bool has_number(const struct tpa_rank_process *job)
{
	return job->job && strcmp(job->job, "none") != 0;
}

static bool may_be_one_job(const struct rank *a, const struct rank *b)
{
	return a->job.world_rank != b->job.world_rank && a->job.world_size == b->job.world_size &&
	       same_text(a->job.launcher, b->job.launcher) && same_text(a->job.job, b->job.job) &&
	       (has_number(&a->job) || (a->begin <= b->end && b->begin <= a->end));
}

/* May the rank be of the job that `job` began, whose ranks are marked by its run? */
static bool fits(const struct ranks *ranks, const uint64_t *jobs, size_t job, size_t rank)
{
	for (size_t i = job; i < rank; i++)
		if (jobs[i] == ranks->list[job].run && !may_be_one_job(&ranks->list[i], &ranks->list[rank]))
			return false;
	return true;
}

/* In order of begin: a job that has the rank already is an earlier one. jobs[i]: the run of the first rank of i's job. */
static void find_jobs(const struct ranks *ranks, uint64_t *jobs)
{
	for (size_t rank = 0; rank < ranks->count; rank++) {
		size_t job = rank;

		jobs[rank] = ranks->list[rank].run;
		while (!ranks->list[rank].several && job-- > 0)
			if (jobs[job] == ranks->list[job].run && !ranks->list[job].several &&
			    fits(ranks, jobs, job, rank)) {
				jobs[rank] = jobs[job];
				break;
			}
	}
}

static void join_ranks(struct tpa_file_run *files, size_t count, struct ranks *ranks)
{
	uint64_t *jobs = tpa_zalloc(ranks->count + 1, sizeof(*jobs));

	TPA_SORT(ranks->list, ranks->count, begin);
	find_jobs(ranks, jobs);
	for (size_t i = 0; i < count; i++) {
		const struct rank *rank = files[i].run ? rank_of(ranks, files[i].run) : NULL;

		if (rank)
			files[i].run = jobs[rank - ranks->list];
	}
	free(jobs);
}

struct tpa_file_run *tpa_file_runs(const char *const *files, size_t count)
{
	struct tpa_file_run *list = tpa_zalloc(count + 1, sizeof(*list));
	struct ranks ranks = { tpa_zalloc(count + 1, sizeof(*ranks.list)), 0 };

	for (size_t i = 0; i < count; i++) {
		list[i].readable = tpa_trace_peek(files[i], &list[i].header);
		if (!list[i].readable)
			continue;
		list[i].run = list[i].header.run;
		if (list[i].run && list[i].header.job.length)
			add_file(&ranks, files[i], &list[i]);
	}
	join_ranks(list, count, &ranks);
	for (size_t i = 0; i < ranks.count; i++)
		free(ranks.list[i].text);
	free(ranks.list);
	return list;
}
