/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom, how long, and the critical path, against the true times of a simulated job. */
#include "ranks_job.h"

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
