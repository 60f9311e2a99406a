/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks against a simulated job whose true times are known: ranks compute for random times and then communicate; hosts' clocks are
 * set apart and drift.
 */
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

static int64_t local(const struct job *job, uint32_t rank, int64_t time)
{
	uint32_t host = rank % job->hosts;

	return time + llround(job->offset[host] + job->drift[host] * (double)(time - START));
}

static struct job *new_job(uint32_t ranks, uint32_t hosts, uint64_t seed)
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
static struct tpa_ranks *analyze(struct job *job)
{
	for (uint32_t i = 0; i < job->ranks; i++) {
		uint32_t r = (i * 5 + 3) % job->ranks;

		job->inputs[i] = (struct tpa_rank_input){ .said = &job->said[r],
							  .process = r,
							  .start = (uint64_t)local(job, r, START - 1000000) };
	}
	return tpa_ranks_analyze(job->inputs, job->ranks, NULL, NULL);
}

static void compute(struct job *job, uint32_t rank, int64_t ns)
{
	job->now[rank] += ns;
}

static int64_t some(struct job *job, double least, double most)
{
	return (int64_t)(least + random_uniform(&job->seed) * (most - least));
}

static struct tpa_comm_call *call(struct job *job, uint32_t rank, int64_t begin, int64_t end)
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
static void all_to_all(struct job *job, uint8_t flow)
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

static void run(struct job *job, uint32_t steps, uint32_t straggler, int64_t delay)
{
	for (uint32_t i = 0; i < steps; i++) {
		job->step = i + 1;
		for (uint32_t r = 0; r < job->ranks; r++)
			compute(job, r, some(job, 1e6, 1.2e6) + (r == straggler ? delay : 0));
		all_to_all(job, i % 3 ? TPA_FLOW_ALL : TPA_FLOW_BARRIER);
	}
}

/* ---- on one host, all is exact ---- */

static void test_waits_are_exact(void **state)
{
	struct job *job = new_job(RANKS, 1, 1);
	struct tpa_ranks *ranks;
	int64_t all = 0;

	(void)state;
	run(job, 100, 5, 3000000);
	ranks = analyze(job);
	assert_int_equal(ranks->count, RANKS);
	assert_int_equal(ranks->host_count, 1);
	assert_int_equal(ranks->collectives, 100);
	assert_int_equal(ranks->unmatched + ranks->incomplete + ranks->lost + ranks->disagreeing, 0);
	for (uint32_t r = 0; r < RANKS; r++) {
		assert_int_equal(ranks->list[r].number, r);
		assert_int_equal(ranks->list[r].wait_ns, job->wait[r]);
		assert_int_equal(ranks->list[r].caused_ns, job->caused[r]);
		assert_int_equal(ranks->list[r].caused_error_ns, 0);
		all += job->wait[r];
	}
	assert_int_equal(ranks->wait_ns, all);
	assert_int_equal(ranks->wait_by[TPA_WAIT_AT_BARRIER] + ranks->wait_by[TPA_WAIT_AT_NXN], all);
	assert_int_equal(ranks->list[5].late, 100);
	assert_int_equal(ranks->late_count, 100);
	assert_int_equal(ranks->late[0].rank, 5);
	/* Without its delay rank 5 would be like the others; all of the steps would be shorter by about that. */
	assert_in_range(ranks->list[5].gain_ns, 100 * 2800000ll, 100 * 3100000ll);
	/* It is the only one on the critical path, but for what lies before its first and after its last wait. */
	assert_in_range(ranks->list[5].path_ns, (ranks->end - ranks->begin) * 95 / 100,
			ranks->end - ranks->list[5].start);
	tpa_ranks_free(ranks);
	free(job);
}

/* The path has no hole, and lies within what happened. */
static void test_path_is_whole(void **state)
{
	struct job *job = new_job(RANKS, 1, 2);
	struct tpa_ranks *ranks;
	int64_t sum = 0;

	(void)state;
	run(job, 50, 0, 0);
	ranks = analyze(job);
	assert_true(ranks->path_count > 10);
	for (size_t i = 0; i < ranks->path_count; i++) {
		sum += ranks->path[i].end - ranks->path[i].begin;
		assert_true(!i || ranks->path[i].begin == ranks->path[i - 1].end);
	}
	assert_int_equal(ranks->path[0].begin, ranks->begin);
	assert_int_equal(ranks->path[ranks->path_count - 1].end, ranks->end);
	for (uint32_t r = 0; r < RANKS; r++)
		sum -= ranks->list[r].path_ns;
	assert_int_equal(sum, 0);
	tpa_ranks_free(ranks);
	free(job);
}

/* ---- clocks ---- */

static double true_offset(const struct job *job, uint32_t host, double at)
{
	/* What has to be added to the host's time at its time `at` so that it is the first host's. */
	double real = (at - job->offset[host] + job->drift[host] * START) / (1 + job->drift[host]);

	return real + job->offset[0] + job->drift[0] * (real - (double)START) - at;
}

static void check_hosts(const struct job *job, const struct tpa_ranks *ranks, double most)
{
	for (size_t h = 1; h < ranks->host_count; h++) {
		const struct tpa_rank_host *host = &ranks->hosts[h];
		uint32_t number = 0;
		double half = (double)(ranks->end - ranks->begin) / 2;

		while (strcmp(host_names[number], host->name) != 0)
			number++;
		assert_int_equal(host->source, TPA_CLOCK_BOUND);
		assert_false(host->contradictory);
		for (int side = -1; side <= 1; side++) {
			double at = (double)host->middle_ns + side * half;
			double said = host->offset_ns + host->drift * side * half;

			/* 600 ns: such large numbers are rounded. */
			assert_true(fabs(said - true_offset(job, number, at)) <= host->error_ns + 600);
		}
		assert_true(host->error_ns < most);
	}
}

static void test_clocks_apart(void **state)
{
	(void)state;
	for (uint64_t seed = 10; seed < 40; seed++) {
		struct job *job = new_job(RANKS, 4, seed);
		struct tpa_ranks *ranks;

		for (size_t h = 1; h < 4; h++)
			job->offset[h] = (random_uniform(&job->seed) - 0.5) * 1e11;
		/* A rank that is always late bounds from one side only: the other bound is as far away as it is late. */
		run(job, 100, 3, seed % 2 ? 1000000 : 0);
		ranks = analyze(job);
		assert_int_equal(ranks->host_count, 4);
		check_hosts(job, ranks, seed % 2 ? 1000000 : 60000);
		for (uint32_t r = 0; r < RANKS; r++) {
			double error = 200 * 2 * (ranks->error_ns + 600) * RANKS;

			assert_true(fabs((double)(ranks->list[r].wait_ns - job->wait[r])) <= error);
			assert_true(ranks->list[r].caused_error_ns >= 0);
		}
		tpa_ranks_free(ranks);
		free(job);
	}
}

/* For an hour, with crystals that are 20 and 40 ppm off. */
static void test_clocks_drift(void **state)
{
	struct job *job = new_job(4, 2, 7);
	struct tpa_ranks *ranks;

	(void)state;
	job->offset[1] = 5e9;
	job->drift[0] = 2e-5;
	job->drift[1] = -4e-5;
	for (uint32_t i = 0; i < 1000; i++) {
		for (uint32_t r = 0; r < job->ranks; r++)
			compute(job, r, some(job, 3.6e9, 3.6001e9));
		all_to_all(job, TPA_FLOW_BARRIER);
	}
	ranks = analyze(job);
	assert_true(fabs(ranks->hosts[1].drift - 6e-5) < 1e-8);
	check_hosts(job, ranks, 40000);
	tpa_ranks_free(ranks);
	free(job);
}

static void test_clocks_without_bounds(void **state)
{
	struct job *job = new_job(2, 2, 8);
	struct tpa_comm_call *made;
	struct tpa_ranks *ranks;

	(void)state;
	for (uint32_t r = 0; r < 2; r++) {
		made = call(job, r, job->now[r], job->now[r] + 1000);
		made->kind = TPA_COMM_COLLECTIVE; /* of a flow that bounds nothing */
		made->sequence = 1;
	}
	ranks = analyze(job);
	assert_int_equal(ranks->hosts[1].source, TPA_CLOCK_TAKEN);
	assert_true(isnan(ranks->hosts[1].error_ns) && isnan(ranks->error_ns));
	tpa_ranks_free(ranks);
	free(job);
}

/* What NTP says of two clocks: the second rank's host and the first one's. */
static struct tpa_rank_host set_by_ntp(bool first, bool second, uint8_t flow)
{
	struct job *job = new_job(2, 2, 8);
	struct tpa_rank_host host;
	struct tpa_ranks *ranks;

	job->offset[1] = 4e6;
	for (uint32_t r = 0; r < 2; r++) {
		struct tpa_comm_call *made = call(job, r, job->now[r], START + 2000000);

		made->kind = TPA_COMM_COLLECTIVE;
		made->sequence = 1;
		made->flow = flow;
		made->root = 0;
		made->sent = made->received = 64;
	}
	job->said[0].ntp = (struct tpa_rank_ntp){ true, first, 1000000, 1000 };
	job->said[1].ntp = (struct tpa_rank_ntp){ true, second, 7000000, 2000 };
	ranks = analyze(job);
	host = ranks->hosts[1];
	assert_true(isnan(host.error_ns) ? isnan(ranks->error_ns) : ranks->error_ns == host.error_ns);
	tpa_ranks_free(ranks);
	free(job);
	return host;
}

static void test_clocks_by_ntp(void **state)
{
	struct tpa_rank_host host = set_by_ntp(true, true, TPA_FLOW_NONE);

	(void)state;
	assert_int_equal(host.source, TPA_CLOCK_NTP);
	assert_true(host.offset_ns == 0 && host.error_ns >= 8e6 && host.error_ns < 8.01e6);
	assert_true(host.ntp.known && host.ntp.synchronised && host.ntp.max_error_ns == 7000000);
	/* A broadcast bounds it from one side, and NTP from the other. */
	host = set_by_ntp(true, true, TPA_FLOW_FROM_ROOT);
	assert_int_equal(host.source, TPA_CLOCK_NTP);
	assert_true(host.bounds > 0 && host.error_ns < 8e6 && fabs(host.offset_ns + 4e6) <= host.error_ns);
	/* Not if one of them is not synchronised. */
	host = set_by_ntp(false, true, TPA_FLOW_NONE);
	assert_int_equal(host.source, TPA_CLOCK_TAKEN);
	host = set_by_ntp(true, false, TPA_FLOW_NONE);
	assert_true(host.source == TPA_CLOCK_TAKEN && isnan(host.error_ns) && host.ntp.known && !host.ntp.synchronised);
}

/* A host that shares a communicator with the second one only. */
static void test_clocks_over_another_host(void **state)
{
	struct job *job = new_job(3, 3, 9);
	struct tpa_ranks *ranks;

	(void)state;
	job->offset[1] = 3e6;
	job->offset[2] = -8e9;
	for (uint32_t r = 0; r < 3; r++) {
		job->said[r].communicator_count = 3;
		for (uint32_t c = 1; c < 3; c++)
			job->world[r][c] = (struct tpa_communicator){
				.size = 2, .rank = r - (c - 1), .parent = 0, .parent_sequence = 0, .color = c
			};
	}
	for (uint32_t i = 0; i < 200; i++)
		for (uint32_t c = 1; c < 3; c++) {
			int64_t last = job->now[c - 1] > job->now[c] ? job->now[c - 1] : job->now[c];

			for (uint32_t r = c - 1; r <= c; r++) {
				int64_t end = last + some(job, 500, 9000);
				struct tpa_comm_call *made = call(job, r, job->now[r], end);

				made->kind = TPA_COMM_COLLECTIVE;
				made->flow = TPA_FLOW_BARRIER;
				made->communicator = c;
				made->sequence = i + 1;
				job->now[r] = end + some(job, 1000, 50000);
			}
		}
	ranks = analyze(job);
	assert_int_equal(ranks->collectives, 400);
	assert_int_equal(ranks->incomplete + ranks->unmatched, 0);
	check_hosts(job, ranks, 40000);
	assert_true(ranks->hosts[2].error_ns > ranks->hosts[1].error_ns);
	tpa_ranks_free(ranks);
	free(job);
}

/* ---- flows ---- */

static struct tpa_comm_call *collective(struct job *job, uint32_t rank, int64_t begin, int64_t end, uint8_t flow)
{
	struct tpa_comm_call *made = call(job, rank, START + begin, START + end);

	made->kind = TPA_COMM_COLLECTIVE;
	made->flow = flow;
	made->sequence = 1;
	made->root = flow == TPA_FLOW_FROM_ROOT || flow == TPA_FLOW_TO_ROOT ? 1 : -1;
	made->sent = made->received = 8;
	return made;
}

static void check_flow(uint8_t flow, enum tpa_wait_pattern pattern, const int64_t *waits, uint32_t late)
{
	static const int64_t begins[] = { 3000, 5000, 9000 };
	struct job *job = new_job(3, 1, 1);
	struct tpa_ranks *ranks;

	for (uint32_t r = 0; r < 3; r++)
		collective(job, r, begins[r], 10000, flow);
	ranks = analyze(job);
	assert_int_equal(ranks->group_count, 1);
	assert_int_equal(ranks->groups[0].pattern, pattern);
	for (uint32_t r = 0; r < 3; r++) {
		assert_int_equal(ranks->list[r].wait_ns, waits[r]);
		assert_int_equal(ranks->list[r].transfer_ns, 10000 - begins[r] - waits[r]);
		assert_int_equal(ranks->list[r].late, r == late);
	}
	tpa_ranks_free(ranks);
	free(job);
}

static void test_flows(void **state)
{
	(void)state;
	check_flow(TPA_FLOW_BARRIER, TPA_WAIT_AT_BARRIER, (int64_t[]){ 6000, 4000, 0 }, 2);
	check_flow(TPA_FLOW_ALL, TPA_WAIT_AT_NXN, (int64_t[]){ 6000, 4000, 0 }, 2);
	/* Rank 1 is the root. */
	check_flow(TPA_FLOW_FROM_ROOT, TPA_WAIT_LATE_BROADCAST, (int64_t[]){ 2000, 0, 0 }, 1);
	check_flow(TPA_FLOW_TO_ROOT, TPA_WAIT_EARLY_REDUCE, (int64_t[]){ 0, 4000, 0 }, 2);
	/* Nobody waits for a rank of higher number. */
	check_flow(TPA_FLOW_PREFIX, TPA_WAIT_NONE, (int64_t[]){ 0, 0, 0 }, TPA_RANK_NONE);
	check_flow(TPA_FLOW_NEIGHBOURS, TPA_WAIT_NONE, (int64_t[]){ 0, 0, 0 }, TPA_RANK_NONE);
}

/*
 * Ranks in a line, 0 to 3: the first and the last have one neighbour and nobody. Rank 3 is last, and only rank 2 waits for it; rank 2 is
 * second to last, and rank 1 waits for that.
 */
static void test_neighbours(void **state)
{
	static const int64_t begins[] = { 1000, 2000, 7000, 9000 }, waits[] = { 1000, 5000, 2000, 0 };
	static const uint32_t sources[][2] = { { 4, 1 }, { 0, 2 }, { 1, 3 }, { 2, 4 } };

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct job *job = new_job(4, 1, 1);
		struct tpa_ranks *ranks;

		for (uint32_t r = 0; r < 4; r++) {
			collective(job, r, begins[r], 10000, TPA_FLOW_NEIGHBOURS);
			job->world[r][0].sources = known ? sources[r] : NULL;
			job->world[r][0].source_count = 2;
		}
		ranks = analyze(job);
		for (uint32_t r = 0; r < 4; r++) {
			assert_int_equal(ranks->list[r].wait_ns, known ? waits[r] : 0);
			assert_int_equal(ranks->list[r].transfer_ns, 10000 - begins[r] - (known ? waits[r] : 0));
		}
		assert_int_equal(ranks->list[2].caused_ns, known ? 5000 : 0);
		assert_int_equal(ranks->list[3].caused_ns, known ? 2000 : 0);
		assert_int_equal(ranks->groups[0].pattern, known ? TPA_WAIT_FOR_NEIGHBOURS : TPA_WAIT_NONE);
		assert_int_equal(ranks->disagreeing, 0);
		tpa_ranks_free(ranks);
		free(job);
	}
}

/* Rank 2 is last; rank 0 gets nothing from it, rank 1 does. Rank 2 tells of no empty part: it waits for all. */
static void test_empty_parts(void **state)
{
	static uint8_t parts[] = { 1, 2, 1, 4 }; /* from rank 1 alone; from rank 2 alone */
	static const int64_t begins[] = { 1000, 2000, 7000 };

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct job *job = new_job(3, 1, 1);
		struct tpa_ranks *ranks;

		for (uint32_t r = 0; r < 3; r++) {
			struct tpa_comm_call *made = collective(job, r, begins[r], 10000, TPA_FLOW_ALL);

			made->parts = r == 2 ? TPA_PARTS_ALL : !known ? TPA_PARTS_UNKNOWN : 1 + 2 * r;
			job->said[r].parts = parts;
			job->said[r].part_bytes = sizeof(parts);
		}
		ranks = analyze(job);
		assert_int_equal(ranks->disagreeing, 0);
		assert_int_equal(ranks->list[0].wait_ns, known ? 1000 : 0);
		assert_int_equal(ranks->list[1].wait_ns, known ? 5000 : 0);
		assert_int_equal(ranks->list[2].wait_ns, 0);
		assert_int_equal(ranks->groups[0].pattern, known ? TPA_WAIT_AT_NXN : TPA_WAIT_NONE);
		tpa_ranks_free(ranks);
		free(job);
	}
}

/* Bytes that no rank tells are not known; if only one tells none, it has none. */
static void test_bytes_that_are_not_known(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct job *job = new_job(2, 1, 1);
		struct tpa_ranks *ranks;

		for (uint32_t r = 0; r < 2; r++) {
			struct tpa_comm_call *made = collective(job, r, r ? 4000 : 1000, 5000, TPA_FLOW_ALL);

			made->sent = made->received = r || !known ? 0 : 8;
		}
		ranks = analyze(job);
		assert_int_equal(ranks->list[0].wait_ns, known ? 0 : 3000);
		tpa_ranks_free(ranks);
		free(job);
	}
}

static void test_scan_waits_for_lower_ranks(void **state)
{
	struct job *job = new_job(3, 1, 1);
	struct tpa_ranks *ranks;

	(void)state;
	collective(job, 0, 6000, 6500, TPA_FLOW_PREFIX);
	collective(job, 1, 9000, 10000, TPA_FLOW_PREFIX);
	collective(job, 2, 1000, 10000, TPA_FLOW_PREFIX);
	ranks = analyze(job);
	assert_int_equal(ranks->groups[0].pattern, TPA_WAIT_EARLY_SCAN);
	assert_int_equal(ranks->list[2].wait_ns, 8000);
	assert_int_equal(ranks->list[1].wait_ns, 0);
	assert_int_equal(ranks->list[1].caused_ns, 8000);
	tpa_ranks_free(ranks);
	free(job);
}

/* It waits where it asks for the end, not where it starts. */
static void test_started_collectives(void **state)
{
	struct job *job = new_job(2, 1, 1);
	struct tpa_ranks *ranks;

	(void)state;
	for (uint32_t r = 0; r < 2; r++) {
		struct tpa_comm_call *made = collective(job, r, r ? 8000 : 1000, r ? 8100 : 1100, TPA_FLOW_ALL);

		made->phase = TPA_PHASE_START;
		made->request = 77;
		made = call(job, r, START + (r ? 8200 : 5000), START + 9000);
		made->kind = TPA_COMM_WAIT;
		made->request = 77;
	}
	ranks = analyze(job);
	assert_int_equal(ranks->collectives, 1);
	assert_int_equal(ranks->list[0].wait_ns, 3000);
	assert_int_equal(ranks->list[0].transfer_ns, 1000);
	assert_int_equal(ranks->list[1].wait_ns, 0);
	tpa_ranks_free(ranks);
	free(job);
}

static void message(struct job *job, uint32_t from, uint32_t to, int32_t tag, const int64_t *times)
{
	struct tpa_comm_call *made = call(job, from, START + times[0], START + times[1]);

	made->kind = TPA_COMM_SEND;
	made->peer = (int32_t)to;
	made->tag = tag;
	made->sent = 100;
	if (!times[3])
		return;
	made = call(job, to, START + times[2], START + times[3]);
	made->kind = TPA_COMM_RECEIVE;
	made->peer = (int32_t)from;
	made->tag = tag;
	made->received = 100;
}

static void test_messages(void **state)
{
	struct job *job = new_job(3, 1, 1);
	struct tpa_ranks *ranks;

	(void)state;
	message(job, 0, 1, 5, (int64_t[]){ 4000, 4100, 1000, 4200 });	  /* late sender: 3,000 */
	message(job, 0, 1, 6, (int64_t[]){ 10000, 18100, 18000, 18200 }); /* late receiver: 8,000 */
	message(job, 0, 1, 5, (int64_t[]){ 20000, 20100, 30000, 30200 }); /* sent before: nobody waits */
	message(job, 0, 2, 5, (int64_t[]){ 40000, 40100, 0, 0 });	  /* never received */
	ranks = analyze(job);
	assert_int_equal(ranks->messages, 3);
	assert_int_equal(ranks->unmatched, 1);
	assert_int_equal(ranks->list[0].unmatched, 1);
	assert_int_equal(ranks->wait_by[TPA_WAIT_LATE_SENDER], 3000);
	assert_int_equal(ranks->wait_by[TPA_WAIT_LATE_RECEIVER], 8000);
	assert_int_equal(ranks->wait_ns, 11000);
	assert_int_equal(ranks->list[0].caused_ns, 3000);
	assert_int_equal(ranks->list[1].caused_ns, 8000);
	assert_int_equal(ranks->communicators[0].messages, 3);
	assert_int_equal(ranks->communicators[0].bytes, 300);
	assert_int_equal(ranks->communicators[0].sizes[7], 3); /* 64 to 127 */
	tpa_ranks_free(ranks);
	free(job);
}

/* Both ends of an exchange send and receive in one call, whose time counts once. */
static void test_one_call_for_both_ways(void **state)
{
	static const int64_t begins[] = { 1000, 7000 };
	struct job *job = new_job(2, 1, 1);
	struct tpa_ranks *ranks;

	(void)state;
	for (uint32_t r = 0; r < 2; r++)
		for (int way = 0; way < 2; way++) {
			struct tpa_comm_call *made = call(job, r, START + begins[r], START + 9000);

			made->kind = way ? TPA_COMM_RECEIVE : TPA_COMM_SEND;
			made->peer = 1 - (int32_t)r;
			made->tag = 3;
		}
	ranks = analyze(job);
	assert_int_equal(ranks->messages, 2);
	assert_int_equal(ranks->list[0].wait_ns, 6000);
	assert_int_equal(ranks->list[0].transfer_ns, 2000);
	assert_int_equal(ranks->list[1].wait_ns, 0);
	assert_int_equal(ranks->list[1].transfer_ns, 2000);
	assert_int_equal(ranks->wait_ns + ranks->transfer_ns, 8000 + 2000);
	assert_int_equal(ranks->list[1].caused_ns, 6000);
	assert_int_equal(ranks->communicators[0].wait_ns + ranks->communicators[0].transfer_ns, 10000);
	tpa_ranks_free(ranks);
	free(job);
}

/* A call that completes two receives waits until the later one was sent. */
static void test_one_call_completes_several(void **state)
{
	struct job *job = new_job(3, 1, 1);
	struct tpa_ranks *ranks;

	(void)state;
	for (uint32_t from = 1; from < 3; from++) {
		struct tpa_comm_call *made = call(job, 0, START + from, START + from + 1);

		made->kind = TPA_COMM_RECEIVE;
		made->phase = TPA_PHASE_START;
		made->request = from;
		made->peer = (int32_t)from;
		made = call(job, from, START + 2000 * from, START + 2000 * from + 10);
		made->kind = TPA_COMM_SEND;
		made->peer = 0;
	}
	for (uint32_t from = 1; from < 3; from++) {
		struct tpa_comm_call *made = call(job, 0, START + 1000, START + 5000);

		made->kind = TPA_COMM_WAIT;
		made->request = from;
	}
	ranks = analyze(job);
	assert_int_equal(ranks->messages, 2);
	assert_int_equal(ranks->list[0].wait_ns, 3000);
	assert_int_equal(ranks->list[0].transfer_ns, 1000);
	assert_int_equal(ranks->list[1].caused_ns, 0);
	assert_int_equal(ranks->list[2].caused_ns, 3000);
	tpa_ranks_free(ranks);
	free(job);
}

/* ---- what is missing ---- */

static void test_a_rank_without_trace(void **state)
{
	struct job *job = new_job(4, 1, 1);
	struct tpa_ranks *ranks;

	(void)state;
	run(job, 10, 0, 0);
	job->said[2].call_count = 0;
	job->said[1].call_count -= 3; /* lost, at the end */
	ranks = analyze(job);
	assert_int_equal(ranks->count, 3);
	assert_int_equal(ranks->world, 4);
	assert_int_equal(ranks->collectives, 10);
	assert_int_equal(ranks->incomplete, 10);
	tpa_ranks_free(ranks);
	free(job);
}

static void test_nothing(void **state)
{
	struct job *job = new_job(4, 1, 1);

	(void)state;
	assert_null(analyze(job));
	tpa_ranks_free(NULL);
	free(job);
}

/* Any bytes may be in a damaged trace. */
static void test_any_numbers(void **state)
{
	static const uint32_t any_sources[] = { 0, 3, 3, UINT32_MAX, 9 };
	static uint8_t any_parts[] = { 1, 2, 0, 200, 1 };

	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct job *job = new_job(4, 3, seed);
		struct tpa_ranks *ranks;
		int64_t sum = 0;

		for (uint32_t r = 0; r < 4; r++) {
			job->said[r].communicator_count = 3;
			for (uint32_t c = 0; c < 3; c++)
				job->world[r][c] = (struct tpa_communicator){ .size = (uint32_t)some(job, 0, 6),
									      .rank = (uint32_t)some(job, 0, 9),
									      .parent = (uint32_t)some(job, 0, 5),
									      .color = some(job, 0, 2),
									      .sources = any_sources,
									      .source_count = 5 };
			job->said[r].parts = any_parts;
			job->said[r].part_bytes = sizeof(any_parts);
			for (uint32_t i = 0; i < 200; i++) {
				struct tpa_comm_call *made = call(job, r, some(job, 0, 1e5), some(job, 0, 1e5));

				made->begin = seed % 3 ? made->begin : (uint64_t)(random_uniform(&job->seed) * 1.8e19);
				made->end = seed % 4 ? made->end : UINT64_MAX;
				made->kind = (uint8_t)some(job, 0, TPA_COMM_KINDS + 1);
				made->flow = (uint8_t)some(job, 0, TPA_FLOWS + 1);
				made->phase = (uint8_t)some(job, 0, 3);
				made->sequence = (uint64_t)some(job, 0, 20);
				made->communicator = (uint32_t)some(job, 0, 4);
				made->request = (uint64_t)some(job, 0, 5);
				made->peer = (int32_t)some(job, -3, 6);
				made->root = (int32_t)some(job, -3, 6);
				made->parts = (uint32_t)some(job, -1, 8);
				made->sent = (uint64_t)some(job, -2, 6);
				made->received = (uint64_t)some(job, -2, 6);
			}
		}
		ranks = analyze(job);
		for (size_t i = 0; i < ranks->group_count; i++)
			sum += ranks->groups[i].count;
		for (size_t i = 0; i < ranks->op_count; i++) {
			assert_true(ranks->ops[i].wait_ns >= 0);
			assert_true(ranks->ops[i].end - ranks->ops[i].begin >= ranks->ops[i].wait_ns);
			sum -= ranks->ops[i].group != TPA_RANK_NONE;
		}
		assert_int_equal(sum, 0);
		tpa_ranks_free(ranks);
		free(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_are_exact),
		cmocka_unit_test(test_path_is_whole),
		cmocka_unit_test(test_clocks_apart),
		cmocka_unit_test(test_clocks_drift),
		cmocka_unit_test(test_clocks_without_bounds),
		cmocka_unit_test(test_clocks_by_ntp),
		cmocka_unit_test(test_clocks_over_another_host),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_empty_parts),
		cmocka_unit_test(test_bytes_that_are_not_known),
		cmocka_unit_test(test_scan_waits_for_lower_ranks),
		cmocka_unit_test(test_started_collectives),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_one_call_for_both_ways),
		cmocka_unit_test(test_one_call_completes_several),
		cmocka_unit_test(test_a_rank_without_trace),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_any_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
