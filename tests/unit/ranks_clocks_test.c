/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts' clocks, found from the calls of a simulated job: each within the error that is stated. */
#include "ranks_job.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_apart),
		cmocka_unit_test(test_clocks_drift),
		cmocka_unit_test(test_clocks_without_bounds),
		cmocka_unit_test(test_clocks_by_ntp),
		cmocka_unit_test(test_clocks_over_another_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
