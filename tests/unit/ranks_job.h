/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated job whose true times are known: ranks compute for random times and then communicate; hosts' clocks are set apart and
 * drift.
 */
#ifndef TPROF_TESTS_UNIT_RANKS_JOB_H
#define TPROF_TESTS_UNIT_RANKS_JOB_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/ranks/analyze.h"
#include "random_numbers.h"

#define RANKS 8u
#define CALLS 4000u
#define START 1700000000000000000ll

static const char *const host_names[] = { "one", "two", "three", "four" };

struct job {
	uint32_t ranks, hosts;
	double offset[4],
		drift[4];   /* of the hosts' clocks: their time is true time + offset + drift * (true time - START) */
	int64_t now[RANKS]; /* true time of each rank */
	struct tpa_comm_call calls[RANKS][CALLS];
	struct tpa_communicator world[RANKS][3];
	struct tpa_rank_process said[RANKS];
	struct tpa_rank_input inputs[RANKS];
	uint64_t seed;
	uint64_t sequence[3];
	int64_t wait[RANKS], caused[RANKS]; /* the truth */
	uint32_t step;
};

static inline int64_t local(const struct job *job, uint32_t rank, int64_t time)
{
	uint32_t host = rank % job->hosts;

	return time + llround(job->offset[host] + job->drift[host] * (double)(time - START));
}

static inline struct job *new_job(uint32_t ranks, uint32_t hosts, uint64_t seed)
{
	struct job *job = calloc(1, sizeof(*job));

	job->ranks = ranks;
	job->hosts = hosts;
	job->seed = seed;
	for (uint32_t r = 0; r < ranks; r++) {
		job->now[r] = START + (int64_t)(random_uniform(&job->seed) * 1e6);
		job->world[r][0] = (struct tpa_communicator){
			.size = ranks, .rank = r, .parent = TPA_COMM_UNKNOWN, .name = "MPI_COMM_WORLD"
		};
		job->said[r] = (struct tpa_rank_process){ .world_rank = r,
							  .world_size = ranks,
							  .host = host_names[r % hosts],
							  .calls = job->calls[r],
							  .communicators = job->world[r],
							  .communicator_count = 1 };
	}
	return job;
}

/* The job's ranks in an order that is not theirs. */
static inline struct tpa_ranks *analyze(struct job *job)
{
	for (uint32_t i = 0; i < job->ranks; i++) {
		uint32_t r = (i * 5 + 3) % job->ranks;

		job->inputs[i] = (struct tpa_rank_input){ .said = &job->said[r],
							  .process = r,
							  .start = (uint64_t)local(job, r, START - 1000000) };
	}
	return tpa_ranks_analyze(job->inputs, job->ranks, NULL, NULL);
}

static inline void compute(struct job *job, uint32_t rank, int64_t ns)
{
	job->now[rank] += ns;
}

static inline int64_t some(struct job *job, double least, double most)
{
	return (int64_t)(least + random_uniform(&job->seed) * (most - least));
}

static inline struct tpa_comm_call *call(struct job *job, uint32_t rank, int64_t begin, int64_t end)
{
	struct tpa_rank_process *said = &job->said[rank];
	struct tpa_comm_call *made = &job->calls[rank][said->call_count++];

	assert_true(said->call_count <= CALLS);
	*made = (struct tpa_comm_call){ .begin = (uint64_t)local(job, rank, begin),
					.end = (uint64_t)local(job, rank, end),
					.peer = -1,
					.tag = -1,
					.root = -1,
					.step = job->step };
	return made;
}

/* All ranks: each leaves a little after the last came. */
static inline void all_to_all(struct job *job, uint8_t flow)
{
	uint64_t bytes = flow == TPA_FLOW_BARRIER ? 0 : 64;
	int64_t last = 0, posts[RANKS];
	uint32_t late = 0;

	for (uint32_t r = 0; r < job->ranks; r++) {
		posts[r] = job->now[r];
		late = posts[r] > last ? r : late;
		last = posts[r] > last ? posts[r] : last;
	}
	for (uint32_t r = 0; r < job->ranks; r++) {
		struct tpa_comm_call *made;

		job->now[r] = last + some(job, 500, 30000);
		made = call(job, r, posts[r], job->now[r]);
		made->kind = TPA_COMM_COLLECTIVE;
		made->flow = flow;
		made->sequence = job->sequence[0] + 1;
		made->sent = made->received = bytes;
		job->wait[r] += last - posts[r];
		job->caused[late] += last - posts[r];
	}
	job->sequence[0]++;
}

static inline void run(struct job *job, uint32_t steps, uint32_t straggler, int64_t delay)
{
	for (uint32_t i = 0; i < steps; i++) {
		job->step = i + 1;
		for (uint32_t r = 0; r < job->ranks; r++)
			compute(job, r, some(job, 1e6, 1.2e6) + (r == straggler ? delay : 0));
		all_to_all(job, i % 3 ? TPA_FLOW_ALL : TPA_FLOW_BARRIER);
	}
}

#endif
